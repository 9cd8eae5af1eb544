/** Requests for mailed links: limited for each network, with equal answers and timing. */
import { expect } from 'chai';
import { LINK_SENT, linkRoute } from '../../../adapters/http/chat/sign-in.js';
import type { StepTime } from '../../../adapters/http/hardening/constant-time.js';
import { createRateLimit, type RateLimit } from '../../../adapters/http/server/client-network.js';
import type { Links } from '../../../application/chat/sign-in/links.js';
import type { CommandContext } from '../../../application/ports/index.js';
import { fakeClock } from '../../support/fake-clock.js';

const requestOf = (address: string, email: string) => {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  return { address, body: { email }, context: () => ({}) as CommandContext, logger };
};

/** A fake timer that runs everything immediately. */
const IMMEDIATE = {
  now: () => 0,
  after: (_: number, work: () => void) => {
    work();
    return () => {};
  },
};

type Requested = { readonly position: bigint; readonly isLimited: boolean };

/** The handler of the route that requests a link. */
function handlerOf(request: Links['request'], perNetwork: RateLimit, time: StepTime) {
  const about = { path: '/auth/login', summary: 'Request a link', purpose: 'magic-link' } as const;
  const { handle } = linkRoute(about, { request }, perNetwork, time);
  return async (each: object) => handle(each as never, undefined);
}

describe('requests for mailed links', () => {
  it('are limited for each network, with equal answers beyond the limit', async () => {
    const sent: string[] = [];
    const warned: string[] = [];
    const request = async (_: string, email: string) => {
      sent.push(email);
      return { position: 1n, isLimited: false };
    };
    const logger = {
      debug() {},
      info() {},
      warn: (_: object, message: string) => void warned.push(message),
      error() {},
    };
    const ask = handlerOf(request, createRateLimit(3, 60_000), IMMEDIATE);
    const from = (address: string, email: string) => ask({ ...requestOf(address, email), logger });
    for (let n = 0; n < 5; n++) expect(await from('192.0.2.1', `${n}@example.org`)).to.deep.equal({ body: LINK_SENT });
    expect(await from('198.51.100.1', 'ada@example.org')).to.deep.equal({ body: LINK_SENT });
    expect(sent).to.deep.equal(['0@example.org', '1@example.org', '2@example.org', 'ada@example.org']);
    expect(warned).to.have.length(2);
  });

  it('take the same time, however long looking up the address takes', async () => {
    const time = fakeClock();
    /** Milliseconds until the answer to a request with a lookup of `lookupMs`. */
    async function answeredAfter(lookupMs: number) {
      const request = () =>
        new Promise<Requested>((resolve) => {
          time.after(lookupMs, () => resolve({ position: 1n, isLimited: false }));
        });
      const ask = handlerOf(request, createRateLimit(1, 60_000), time);
      const startedAt = time.now();
      let answeredAt: number | undefined;
      const answer = ask(requestOf('192.0.2.1', 'ada@example.org')).then(() => {
        answeredAt = time.now() - startedAt;
      });
      while (answeredAt === undefined) {
        await new Promise(setImmediate);
        time.pass(1);
      }
      await answer;
      return answeredAt;
    }
    const quick = await answeredAfter(1);
    expect(quick).to.be.greaterThan(150);
    for (const lookupMs of [9, 33, 150]) expect(await answeredAfter(lookupMs)).to.equal(quick);
    expect(await answeredAfter(quick + 9)).to.equal(2 * quick);
  });
});
