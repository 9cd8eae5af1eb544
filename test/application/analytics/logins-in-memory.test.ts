/** A sign-in link never doubles as a session token, even if its session is opened under the id of the link. */
import { expect } from 'chai';
import { createLogins } from '../../../application/analytics/login.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const ADA = 'ada@example.com';

describe('a sign-in link of the dashboard', () => {
  it('is not the token of a session, even of one opened under the id of the link', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const logins = createLogins({ ...kernel, clock: Date, isAllowed: (email) => email === ADA });
    const requester = context();
    await logins.request(ADA, requester);
    const addressId = kernel.derivation.id('analytics.address', ADA);
    const linkId = kernel.derivation.id('analytics.link', requester.commandId);
    const link = logins.linkToken(addressId, linkId);
    const session = await logins.verify(link, ADA, context(linkId));
    if (isRejection(session)) throw new Error(session.rejected);
    expect(session.token).not.to.equal(link);
    expect(await logins.find(session.token)).to.include({ addressId, email: ADA });
    expect(await logins.find(link)).to.equal(undefined);
  });
});

describe('an email address removed from the allow list of the dashboard', () => {
  async function world() {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const allowed = new Set([ADA]);
    const logins = createLogins({ ...kernel, clock: Date, isAllowed: (email) => allowed.has(email) });
    const addressId = kernel.derivation.id('analytics.address', ADA);
    async function linkOf() {
      const requester = context();
      await logins.request(ADA, requester);
      const linkId = kernel.derivation.id('analytics.link', requester.commandId);
      return { linkId, token: logins.linkToken(addressId, linkId) };
    }
    return { logins, allowed, addressId, linkOf };
  }

  it('loses its session until it is allowed again', async () => {
    const { logins, allowed, linkOf } = await world();
    const session = await logins.verify((await linkOf()).token, ADA, context());
    if (isRejection(session)) throw new Error(session.rejected);
    expect(await logins.find(session.token)).to.include({ email: ADA });
    allowed.clear();
    expect(await logins.find(session.token)).to.equal(undefined);
    allowed.add(ADA);
    expect(await logins.find(session.token)).to.include({ email: ADA });
  });

  it('cannot use a link sent before and is sent none', async () => {
    const { logins, allowed, addressId, linkOf } = await world();
    const { linkId, token } = await linkOf();
    expect(await logins.pending(addressId, linkId)).to.equal(ADA);
    allowed.clear();
    expect(await logins.pending(addressId, linkId)).to.equal(undefined);
    for (const email of [ADA, undefined])
      expect(await logins.verify(token, email, context())).to.include({ kind: 'unauthenticated' });
  });
});
