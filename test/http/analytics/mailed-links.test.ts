/** Limits of mailed sign-in links: callers notice nothing, and the operator's log names no address. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { createSignedTokens } from '../../../adapters/crypto/signed-tokens.js';
import { authRoutes } from '../../../adapters/http/analytics/auth.js';
import { createRateLimit } from '../../../adapters/http/server/client-network.js';
import { createLogins } from '../../../application/analytics/login.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

/** A fake timer that runs everything immediately. */
const IMMEDIATE = {
  now: () => 0,
  after: (_: number, work: () => void) => {
    work();
    return () => {};
  },
};

describe('sign-in links requested too often', () => {
  async function linesOf(addresses: readonly string[], email: string, networkLimit: number) {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const logins = createLogins({
      ...kernel,
      signed: createSignedTokens(randomBytes(32)),
      clock: { now: () => 1 },
      isAllowed: () => true,
    });
    const [, magicLink] = authRoutes({
      logins,
      admit: () => ({ actor: 'nobody' }),
      linksPerNetwork: createRateLimit(networkLimit, 60_000),
      appUrl: undefined,
      time: IMMEDIATE,
    });
    const lines: string[] = [];
    const warn = (...line: readonly unknown[]) => void lines.push(JSON.stringify(line));
    const logger = { debug() {}, info() {}, warn, error() {} };
    const answers = new Set<string>();
    for (const address of addresses) {
      const request = { body: { email }, address, context: () => context(), logger };
      answers.add(JSON.stringify(await magicLink!.handle(request as never, {} as never)));
    }
    expect(answers).to.have.lengthOf(1);
    return lines;
  }
  const from = (count: number) => Array.from({ length: count }, (_, n) => `192.0.2.${n}`);

  it('logs a warning when the limit of the address is reached', async () => {
    expect(await linesOf(from(5), 'ada@example.com', 300)).to.deep.equal([]);
    const [line = '', ...more] = await linesOf(from(6), 'ada@example.com', 300);
    expect(more).to.deep.equal([]);
    expect(line)
      .to.match(/link not mailed: too many requests for this address/)
      .and.not.match(/ada|example|192/);
  });

  it('logs a warning when the limit of the network is reached', async () => {
    const [line = '', ...more] = await linesOf(['192.0.2.1', '192.0.2.1'], 'ada@example.com', 1);
    expect(more).to.deep.equal([]);
    expect(line)
      .to.match(/too many requests from this network/)
      .and.not.match(/ada|example|192/);
  });
});
