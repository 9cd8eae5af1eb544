/** Which failed sign-ins are rate limited, per which key, and what the audit log records. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { networkOf } from '../../../../adapters/http/server/client-network.js';
import { createPasswordSignIn } from '../../../../application/chat/sign-in/passwords.js';
import type { AuditEvent } from '../../../../domain/chat/audit-log.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { context } from '../../../support/toy-service.js';

const ADMIN = 'admin@example.org';
const RIGHT = 'correct horse';

/** Every password is `RIGHT`; comparing is free. */
function startSignIn() {
  const noted: AuditEvent[] = [];
  const signIn = createPasswordSignIn({
    admission: { user: async ({ email }: { email: string }) => ({ id: `id of ${email}` }) } as never,
    passwords: {
      verify: async (_: string, password: string) => (password === RIGHT ? { setAt: 0n } : undefined),
    } as never,
    sessions: { open: async () => ({ body: {}, position: 0n }) } as never,
    join: undefined as never,
    links: undefined as never,
    derivation: createDerivation(randomBytes(32)),
    clock: { now: () => 1 },
    audit: {
      note: async (event) => {
        noted.push(event);
        return 0n;
      },
    },
  });
  async function login(email: string, address: string, password = 'wrong horse') {
    const from = { ip: address, network: networkOf(address), userAgent: '' };
    const done = await signIn.login({ email, password }, from, context(randomUUID()));
    return isRejection(done) ? done.kind : 'signed in';
  }
  const limits = () => noted.map(({ data }) => 'limit' in data && data.limit);
  return { login, noted, limits };
}

const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;

describe('failed sign-ins', () => {
  it('block an email from one network after 10 failures', async () => {
    const { login, noted } = startSignIn();
    for (let n = 0; n < 10; n++) expect(await login(ADMIN, '192.0.2.1')).to.equal('unauthenticated');
    expect(await login(ADMIN, '192.0.2.1', RIGHT)).to.equal('limit');
    expect(await login(ADMIN, '192.0.2.2', RIGHT), 'another network').to.equal('signed in');
    expect(await login('bob@example.org', '192.0.2.1', RIGHT), 'another user').to.equal('signed in');
    expect(noted).to.have.length(1);
    expect(noted[0]?.data).to.include({ limit: 'email-and-network', userId: `id of ${ADMIN}` });
  });

  it('block a network after 50 failures, with an IPv6 /64 counting as one', async () => {
    const { login, limits } = startSignIn();
    for (let n = 0; n < 50; n++)
      expect(await login(`user-${n}@example.org`, `2001:db8::${n.toString(16)}`)).to.equal('unauthenticated');
    expect(await login(ADMIN, '2001:db8::ffff', RIGHT)).to.equal('limit');
    expect(await login(ADMIN, '2001:db8:0:1::1', RIGHT), 'another network').to.equal('signed in');
    expect(limits()).to.deep.equal(['network']);
  });

  it('block an email everywhere after 1,000 failures', async () => {
    const { login, limits } = startSignIn();
    for (let n = 0; n < 1000; n++) {
      if (n % 100 === 0) expect(await login(ADMIN, '192.0.2.1', RIGHT)).to.equal('signed in');
      expect(await login(ADMIN, address(n))).to.equal('unauthenticated');
    }
    expect(await login(ADMIN, '192.0.2.1', RIGHT)).to.equal('limit');
    expect(await login('bob@example.org', '192.0.2.1', RIGHT)).to.equal('signed in');
    expect(limits()).to.deep.equal(['email']);
  });

  it('are recorded once per limit reached', async () => {
    const { login, limits } = startSignIn();
    for (let n = 0; n < 60; n++) await login(`user-${n % 5}@example.org`, '192.0.2.1');
    expect(limits()).to.deep.equal([...Array(4).fill('email-and-network'), 'network']);
  });
});
