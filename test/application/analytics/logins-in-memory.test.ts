/** Dashboard links and sessions: a link is no session token, works once, and only while its address is allowed. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSignedTokens } from '../../../adapters/crypto/signed-tokens.js';
import { createLogins, LINK_SECONDS, type Logins } from '../../../application/analytics/login.js';
import type { CommandContext } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

const ADA = 'ada@example.com';
const signed = createSignedTokens(randomBytes(32));

/** The token of the link that a command requested. */
async function linkOf(kernel: ReturnType<typeof memoryKernel>, logins: Logins, { commandId }: CommandContext) {
  const linkId = kernel.derivation.id('analytics.link', commandId);
  const times = { requestedAt: Date.now(), expiresAt: Date.now() + LINK_SECONDS * 1000 };
  return { linkId, link: await logins.links.token({ purpose: 'sign-in', linkId, email: ADA, ...times }) };
}

describe('a sign-in link of the dashboard', () => {
  it('is not the token of a session, even of one opened under the id of the link', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const logins = createLogins({ ...kernel, signed, clock: Date, isAllowed: (email) => email === ADA });
    const requester = context();
    await logins.request(ADA, requester);
    const { link, linkId } = await linkOf(kernel, logins, requester);
    const session = await logins.verify(link, ADA, context(linkId));
    if (isRejection(session)) throw new Error(session.rejected);
    expect(session.token).not.to.equal(link);
    expect(await logins.find(session.token)).to.include({ email: ADA });
    expect(await logins.find(link)).to.equal(undefined);
  });
});

describe('an email address removed from the allow list of the dashboard', () => {
  async function world() {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const allowed = new Set([ADA]);
    const logins = createLogins({ ...kernel, signed, clock: Date, isAllowed: (email) => allowed.has(email) });
    async function request() {
      const requester = context();
      await logins.request(ADA, requester);
      return linkOf(kernel, logins, requester);
    }
    return { logins, allowed, request };
  }

  it('loses its session until it is allowed again', async () => {
    const { logins, allowed, request } = await world();
    const session = await logins.verify((await request()).link, ADA, context());
    if (isRejection(session)) throw new Error(session.rejected);
    expect(await logins.find(session.token)).to.include({ email: ADA });
    allowed.clear();
    expect(await logins.find(session.token)).to.equal(undefined);
    allowed.add(ADA);
    expect(await logins.find(session.token)).to.include({ email: ADA });
  });

  it('cannot use a link sent before', async () => {
    const { logins, allowed, request } = await world();
    const { link } = await request();
    allowed.clear();
    for (const email of [ADA, undefined])
      expect(await logins.verify(link, email, context())).to.include({ kind: 'unauthenticated' });
  });
});
