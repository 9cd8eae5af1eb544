/** The door of the sockets: so many a minute, so many at a time, of one network; and digests of where they come from. */
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { createCallerDigest } from '../../../adapters/http/meeting/routes.js';
import { createSocketLimit } from '../../../adapters/http/meeting/socket-route.js';
import { createRateLimit } from '../../../adapters/http/server/rate-limit.js';

describe('the door of the meetings', () => {
  const here = '203.0.113.9';
  const free = { wait: () => 0 };

  it('lets in so many a minute, and tells whoever is too many how long to wait', async () => {
    const door = createSocketLimit(createRateLimit(2, 60_000), 100, free);
    expect(await door.admit(here)).to.equal(undefined);
    expect(await door.admit(here)).to.equal(undefined);
    const refused = await door.admit(here);
    expect(refused).to.include({ problem: 429, error: 'Too many requests, try again later' });
    expect(refused?.retryAfterMs).to.be.within(1, 60_000);
    expect(await door.admit('203.0.113.8')).to.equal(undefined);
  });

  it('lets in no more than may be open, of one network', async () => {
    const door = createSocketLimit(createRateLimit(100, 60_000), 2, free);
    const leave = door.trackConnection('2001:db8:1:2::1');
    door.trackConnection('2001:db8:1:2::2');
    expect(await door.admit('2001:db8:1:2::3')).to.include({ problem: 429 });
    expect(await door.admit('2001:db8:1:3::3')).to.equal(undefined);
    leave();
    expect(await door.admit('2001:db8:1:2::3')).to.equal(undefined);
  });

  it('knows a network again by a digest that is of this installation alone', () => {
    const callerOf = createCallerDigest(createDerivation(Buffer.alloc(32, 1)));
    const elsewhere = createCallerDigest(createDerivation(Buffer.alloc(32, 2)));
    expect(callerOf('2001:db8:1:2::1')).to.equal(callerOf('2001:db8:1:2:ffff::9'));
    expect(callerOf(here)).not.to.equal(callerOf('203.0.113.8'));
    expect(callerOf(here)).not.to.equal(elsewhere(here));
  });
});
