/** Who has a link to sign in has no session by that, whatever the session is opened under. */
import { expect } from 'chai';
import { createLogins } from '../../../application/analytics/logins.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toys.js';

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
