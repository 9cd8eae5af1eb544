/** Sign-in links without a mail server: logged once, and only for allowed addresses. */
import { expect } from 'chai';
import { type Logins, loginMailReaction } from '../../../application/analytics/login.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { eventAt } from '../../support/memory-ports.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const data = {
  addressId: 'a',
  purpose: 'sign-in',
  linkId: 'l',
  requestedAt: NOON,
  expiresAt: NOON + 900_000,
  secret: 'sealed',
};

function fixture(isAllowed: boolean) {
  const logged: { readonly link?: string }[] = [];
  const recorded: unknown[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (fields: object) => void logged.push(fields) };
  const reaction = loginMailReaction({
    mailer: undefined,
    logins: {
      isAllowed: () => isAllowed,
      links: {
        isPending: async () => true,
        token: async ({ linkId }) => `token-of-${linkId}`,
        record: async ({ linkId }, isSent) => void recorded.push([linkId, isSent]),
      } as Partial<Logins['links']> as Logins['links'],
    },
    decryptEvent: async (_, event) => ({ ...event, data: { ...data, secret: { email: 'ada@example.com' } } }) as never,
    derivation: { id: () => 'id', idInTime: () => 'id', secret: () => Buffer.alloc(32) },
    logger: logger as never,
    appUrl: () => 'http://127.0.0.1:3002',
    signal: new AbortController().signal,
  });
  const event = eventAt(1n, 'LinkRequested', data) as RecordedEvent as never;
  return { logged, recorded, react: () => reaction.on.LinkRequested!(event) };
}

describe('a sign-in link without a mail server', () => {
  it('is logged', async () => {
    const { logged, recorded, react } = fixture(true);
    await react();
    expect(logged).to.deep.equal([{ link: 'http://127.0.0.1:3002/?token=token-of-l&email=ada%40example.com' }]);
    expect(recorded).to.deep.equal([['l', true]]);
  });

  it('is not logged for an address that is not allowed', async () => {
    const { logged, recorded, react } = fixture(false);
    await react();
    expect([logged, recorded]).to.deep.equal([[], []]);
  });
});
