/** A token bucket for each caller: bursts of half a minute's worth, refilled evenly. */
import { expect } from 'chai';
import { createBurstLimit } from '../../adapters/http/server/client-network.js';

describe('burst limit', () => {
  let now = 0;
  const clock = { now: () => now };
  const ALLOWED = undefined;

  it('allows a burst of half a minute’s worth, then one call after each share of a minute', async () => {
    const limit = createBurstLimit(120, clock);
    for (let n = 0; n < 60; n++) expect(await limit.spend('ada'), `${n}`).to.equal(ALLOWED);
    expect(await limit.spend('ada')).to.equal(500);
    expect(await limit.spend('bob'), 'another caller').to.equal(ALLOWED);
    now += 499;
    expect(await limit.spend('ada')).to.be.closeTo(1, 0.001);
    now += 2;
    expect(await limit.spend('ada')).to.equal(ALLOWED);
    expect(await limit.spend('ada')).to.be.a('number');
    now += 3_600_000;
    for (let n = 0; n < 60; n++) expect(await limit.spend('ada'), `${n}`).to.equal(ALLOWED);
    expect(await limit.spend('ada')).to.be.a('number');
  });

  it('refunds failed calls, up to the size of a burst', async () => {
    const limit = createBurstLimit(2, clock);
    expect(await limit.spend('ada')).to.equal(ALLOWED);
    await limit.refund('ada');
    await limit.refund('ada');
    expect(await limit.spend('ada')).to.equal(ALLOWED);
    expect(await limit.spend('ada')).to.equal(30_000);
  });

  it('counts an IPv6 caller by its /64', async () => {
    const limit = createBurstLimit(1, clock);
    expect(await limit.spend('2001:db8:1:2::1')).to.equal(ALLOWED);
    expect(await limit.spend('2001:db8:1:2::2')).to.be.a('number');
    expect(await limit.spend('2001:db8:1:3::1')).to.equal(ALLOWED);
  });

  it('allows everything when set to 0', async () => {
    const limit = createBurstLimit(0, clock);
    for (let n = 0; n < 1000; n++) expect(await limit.spend('ada')).to.equal(ALLOWED);
  });
});
