/** Links that strangers ask for: as many of one network as one network of people needs, and nobody is told. */
import { expect } from 'chai';
import { createLinkHandler, LINK_SENT } from '../../../adapters/http/chat/magic-link.js';
import { createRateLimit } from '../../../adapters/http/server/rate-limit.js';
import type { CommandContext } from '../../../application/ports/index.js';
import { fakeClock } from '../../support/fake-clock.js';

const asked = (address: string, email: string) => {
  const logger = { debug() {}, info() {}, warn() {}, error() {} };
  return { address, body: { email }, context: () => ({}) as CommandContext, logger };
};

/** Time in which nothing is waited for. */
const AT_ONCE = {
  now: () => 0,
  after: (_: number, work: () => void) => {
    work();
    return () => {};
  },
};

describe('links that are asked for', () => {
  it('are sent to so many a network, and refused to nobody', async () => {
    const sent: string[] = [];
    const warned: string[] = [];
    const request = async (_: string, email: string) => {
      sent.push(email);
      return { position: 1n };
    };
    const logger = {
      debug() {},
      info() {},
      warn: (_: object, message: string) => void warned.push(message),
      error() {},
    };
    const ask = createLinkHandler({ request }, 'magic-link', createRateLimit(3, 60_000), AT_ONCE);
    const from = (address: string, email: string) => ask({ ...asked(address, email), logger });
    for (let n = 0; n < 5; n++)
      expect(await from('192.0.2.1', `${n}@example.org`)).to.deep.equal({ status: 200, body: LINK_SENT });
    expect(await from('198.51.100.1', 'ada@example.org')).to.deep.equal({ status: 200, body: LINK_SENT });
    expect(sent).to.deep.equal(['0@example.org', '1@example.org', '2@example.org', 'ada@example.org']);
    expect(warned).to.have.length(2);
  });

  it('are answered at the same time, however long it takes to see whose the email is', async () => {
    const time = fakeClock();
    /** When it is answered what took so long, both in ms after it was asked for. */
    async function answeredAfter(tookMs: number) {
      const request = () =>
        new Promise<{ position: bigint }>((resolve) => {
          time.after(tookMs, () => resolve({ position: 1n }));
        });
      const ask = createLinkHandler({ request }, 'reset', createRateLimit(1, 60_000), time);
      const began = time.now();
      let at: number | undefined;
      const answer = ask(asked('192.0.2.1', 'ada@example.org')).then(() => {
        at = time.now() - began;
      });
      while (at === undefined) {
        await new Promise(setImmediate);
        time.pass(1);
      }
      await answer;
      return at;
    }
    const quick = await answeredAfter(1);
    expect(quick).to.be.greaterThan(150);
    for (const tookMs of [9, 33, 150]) expect(await answeredAfter(tookMs)).to.equal(quick);
    expect(await answeredAfter(quick + 9)).to.equal(2 * quick);
  });
});
