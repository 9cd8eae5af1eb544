/** A sliding window limits calls within any span of its length, wherever that begins. */
import { expect } from 'chai';
import { createRateLimit } from '../../adapters/http/server/client-network.js';

describe('sliding window limit', () => {
  const MINUTE = 60_000;
  let now = 0;
  const limit = (max: number) => createRateLimit(max, MINUTE, { now: () => now });
  beforeEach(() => {
    now = 1_000_000;
  });

  it('allows a number of calls in any minute, and says how long to wait for the next', async () => {
    const three = limit(3);
    for (const at of [0, 50_000, 59_000]) {
      now = 1_000_000 + at;
      expect(await three.spend('203.0.113.9'), `${at}`).to.equal(undefined);
    }
    expect(await three.spend('203.0.113.9')).to.equal(1_000);
    // A fixed window would start now, and allow three more.
    now = 1_060_000;
    expect(await three.spend('203.0.113.9')).to.equal(undefined);
    expect(await three.spend('203.0.113.9')).to.equal(50_000);
    now = 1_110_000;
    expect(await three.spend('203.0.113.9')).to.equal(undefined);
    expect(await three.spend('203.0.113.9')).to.equal(9_000);
  });

  it('does not count rejected calls, and refunds failed ones', async () => {
    const one = limit(1);
    expect(await one.spend('203.0.113.9')).to.equal(undefined);
    for (let n = 0; n < 5; n++) expect(await one.spend('203.0.113.9')).to.equal(MINUTE);
    await one.refund('203.0.113.9');
    expect(await one.spend('203.0.113.9')).to.equal(undefined);
    now += MINUTE;
    expect(await one.spend('203.0.113.9')).to.equal(undefined);
    await one.refund('198.51.100.7');
  });

  it('counts networks separately, IPv6 by /64', async () => {
    const one = limit(1);
    expect(await one.spend('203.0.113.9')).to.equal(undefined);
    expect(await one.spend('203.0.113.8')).to.equal(undefined);
    expect(await one.spend('::ffff:203.0.113.9')).to.be.a('number');
    expect(await one.spend('2001:db8:1:2::1')).to.equal(undefined);
    expect(await one.spend('2001:db8:1:2:ffff::2')).to.be.a('number');
    expect(await one.spend('2001:db8:1:3::3')).to.equal(undefined);
  });
});
