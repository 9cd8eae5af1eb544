/** Limits on meeting sockets of one network, per minute and at a time; and digests of client addresses. */
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { createCallerDigest } from '../../../adapters/http/meeting/routes.js';
import { createSocketLimit } from '../../../adapters/http/meeting/socket-route.js';
import { createRateLimit } from '../../../adapters/http/server/client-network.js';

describe('meeting socket limits', () => {
  const address = '203.0.113.9';
  const free = { wait: () => 0 };

  it('admit a number of sockets per minute, and say when to retry', async () => {
    const limit = createSocketLimit(createRateLimit(2, 60_000), 100, free);
    expect(await limit.admit(address)).to.equal(undefined);
    expect(await limit.admit(address)).to.equal(undefined);
    const refused = await limit.admit(address);
    expect(refused).to.include({ problem: 429, error: 'Too many requests, try again later' });
    expect(refused?.retryAfterMs).to.be.within(1, 60_000);
    expect(await limit.admit('203.0.113.8')).to.equal(undefined);
  });

  it('admit a number of open sockets per network', async () => {
    const limit = createSocketLimit(createRateLimit(100, 60_000), 2, free);
    const release = limit.trackConnection('2001:db8:1:2::1');
    limit.trackConnection('2001:db8:1:2::2');
    expect(await limit.admit('2001:db8:1:2::3')).to.include({ problem: 429 });
    expect(await limit.admit('2001:db8:1:3::3')).to.equal(undefined);
    release();
    expect(await limit.admit('2001:db8:1:2::3')).to.equal(undefined);
  });

  it('identify a network by a digest that is specific to the installation', () => {
    const callerOf = createCallerDigest(createDerivation(Buffer.alloc(32, 1)));
    const otherInstallation = createCallerDigest(createDerivation(Buffer.alloc(32, 2)));
    expect(callerOf('2001:db8:1:2::1')).to.equal(callerOf('2001:db8:1:2:ffff::9'));
    expect(callerOf(address)).not.to.equal(callerOf('203.0.113.8'));
    expect(callerOf(address)).not.to.equal(otherInstallation(address));
  });
});
