/** Who has a link to sign in has no session by that, whatever the session is opened under. */
import { expect } from 'chai';
import { createLogins } from '../../../application/analytics/login.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const ADA = 'ada@example.com';

describe('a link to sign in to the dashboard', () => {
  it('says nothing of the token of a session, not even of one that is opened under the link’s own id', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const logins = createLogins({ ...kernel, clock: Date, isAllowed: (email) => email === ADA });
    const asked = context();
    await logins.request(ADA, asked);
    const addressId = kernel.derivation.id('analytics.address', ADA);
    const linkId = kernel.derivation.id('analytics.link', asked.commandId);
    const link = logins.linkToken(addressId, linkId);
    const session = await logins.verify(link, ADA, context(linkId));
    if (isRejection(session)) throw new Error(session.rejected);
    expect(session.token).not.to.equal(link);
    expect(await logins.find(session.token)).to.include({ addressId, email: ADA });
    expect(await logins.find(link)).to.equal(undefined);
  });
});

describe('somebody who may no longer sign in to the dashboard', () => {
  async function world() {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const allowed = new Set([ADA]);
    const logins = createLogins({ ...kernel, clock: Date, isAllowed: (email) => allowed.has(email) });
    const addressId = kernel.derivation.id('analytics.address', ADA);
    async function linkOf() {
      const asked = context();
      await logins.request(ADA, asked);
      const linkId = kernel.derivation.id('analytics.link', asked.commandId);
      return { linkId, token: logins.linkToken(addressId, linkId) };
    }
    return { logins, allowed, addressId, linkOf };
  }

  it('is nobody with the session that was begun before, until they may again', async () => {
    const { logins, allowed, linkOf } = await world();
    const session = await logins.verify((await linkOf()).token, ADA, context());
    if (isRejection(session)) throw new Error(session.rejected);
    expect(await logins.find(session.token)).to.include({ email: ADA });
    allowed.clear();
    expect(await logins.find(session.token)).to.equal(undefined);
    allowed.add(ADA);
    expect(await logins.find(session.token)).to.include({ email: ADA });
  });

  it('begins none with a link that was mailed before, and is mailed none', async () => {
    const { logins, allowed, addressId, linkOf } = await world();
    const { linkId, token } = await linkOf();
    expect(await logins.pending(addressId, linkId)).to.equal(ADA);
    allowed.clear();
    expect(await logins.pending(addressId, linkId)).to.equal(undefined);
    for (const email of [ADA, undefined])
      expect(await logins.verify(token, email, context())).to.include({ kind: 'unauthenticated' });
  });
});
