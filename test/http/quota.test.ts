/** A rate limit allows an exact number of requests per network and window, regardless of clock changes. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createRateLimit } from '../../adapters/http/server/client-network.js';

describe('rate limit', () => {
  it('allows an exact number per network and window, plus refunds', async () => {
    const limit = createRateLimit(3, 3_600_000);
    const isAllowed = async (address: string) => (await limit.spend(address)) === undefined;
    for (let n = 0; n < 3; n++) expect(await isAllowed('203.0.113.9'), `${n}`).to.equal(true);
    expect(await isAllowed('203.0.113.9')).to.equal(false);
    expect(await isAllowed('203.0.113.8')).to.equal(true);
    await limit.refund('203.0.113.9');
    expect(await isAllowed('203.0.113.9')).to.equal(true);
    const wait = await limit.spend('203.0.113.9');
    expect(wait).to.be.within(3_500_000, 3_600_000);
  });

  it('ends its window in time after the clock was set back', async () => {
    const window = 40;
    const limit = createRateLimit(1, window);
    const { now } = Date;
    try {
      expect(await limit.spend('203.0.113.9')).to.equal(undefined);
      Date.now = () => now() - 3_600_000;
      expect(await limit.spend('203.0.113.9')).to.be.at.most(window);
      await eventually(async () => (await limit.spend('203.0.113.9')) === undefined);
    } finally {
      Date.now = now;
    }
  });

  it('counts IPv6 callers by their /64, and IPv4-mapped addresses as IPv4', async () => {
    const limit = createRateLimit(2, 3_600_000);
    expect(await limit.spend('2001:db8:1:2::1')).to.equal(undefined);
    expect(await limit.spend('2001:db8:1:2:ffff::2')).to.equal(undefined);
    expect(await limit.spend('2001:db8:1:2::3')).to.be.a('number');
    expect(await limit.spend('2001:db8:1:3::3')).to.equal(undefined);
    expect(await limit.spend('203.0.113.9')).to.equal(undefined);
    expect(await limit.spend('::ffff:203.0.113.9')).to.equal(undefined);
    expect(await limit.spend('::ffff:cb00:7109')).to.be.a('number');
  });
});
