/** Sign-in links without a mail server: logged once, and only for allowed addresses. */
import { expect } from 'chai';
import { loginMailReaction } from '../../../application/analytics/send-login-link-reaction.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import { eventAt } from '../../support/memory-ports.js';

const NOON = Date.UTC(2026, 10, 22, 12);

function fixture(pending: string | undefined) {
  const logged: { readonly link?: string }[] = [];
  const recorded: unknown[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (fields: object) => void logged.push(fields) };
  const reaction = loginMailReaction({
    mailer: undefined,
    logins: {
      pending: async () => pending,
      linkToken: (addressId, linkId) => `${addressId}.${linkId}`,
      record: async (...record) => void recorded.push(record.slice(0, 3)),
    },
    derivation: { id: () => 'id', idInTime: () => 'id', secret: () => Buffer.alloc(32) },
    logger: logger as never,
    appUrl: () => 'http://127.0.0.1:3002',
    signal: new AbortController().signal,
  });
  const data = {
    addressId: 'a',
    linkId: 'l',
    requestedAt: NOON,
    expiresAt: NOON + 900_000,
    secret: 'sealed',
  };
  const event = eventAt(1n, 'LoginRequested', data) as RecordedEvent as never;
  return { logged, recorded, react: () => reaction.on.LoginRequested!(event) };
}

describe('a sign-in link without a mail server', () => {
  it('is logged', async () => {
    const { logged, recorded, react } = fixture('ada@example.com');
    await react();
    expect(logged).to.deep.equal([{ link: 'http://127.0.0.1:3002/?token=a.l&email=ada%40example.com' }]);
    expect(recorded).to.deep.equal([['a', 'l', true]]);
  });

  it('is not logged for an address that is not allowed', async () => {
    const { logged, recorded, react } = fixture(undefined);
    await react();
    expect([logged, recorded]).to.deep.equal([[], []]);
  });
});
