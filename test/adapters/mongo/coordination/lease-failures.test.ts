/** Leases while MongoDB fails, is frozen or unavailable, with real timers. */
import { eventually } from '@annals/engines/testing/condition.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { isReal } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { createLeases } from '../../../../adapters/mongo/coordination/leases.js';
import { STORE_CALL_MS } from '../../../../application/concurrency/deadline.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import { fakeClock, useFakeTimers } from '../../../support/fake-clock.js';
import { given, isHeld, LEASE_MS, useLeases } from './mongo-leases.js';

describe('a lease during failures', () => {
  const nodes = useLeases({ ownProcess: true });

  it('survives a short failure of MongoDB and expires during a long one', async () => {
    const failing = { now: false };
    const rows = nodes.mongo.models.collection('leases');
    const bulkWrite = (...args: Parameters<typeof rows.bulkWrite>) =>
      failing.now ? Promise.reject(new Error('not primary')) : rows.bulkWrite(...args);
    const leases = nodes.node('ann', nodes.time, nodes.modelsWith({ bulkWrite }));
    const lease = await given(leases.acquire(nodes.name));
    failing.now = true;
    nodes.time.pass(LEASE_MS / 2);
    await new Promise(setImmediate);
    failing.now = false;
    const before = await nodes.lapsesAt();
    nodes.time.pass(LEASE_MS / 2 - 1);
    await nodes.isRenewed(before);
    expect(isHeld(lease)).to.equal(true);
    failing.now = true;
    const lapses = await nodes.lapsesAt();
    while (nodes.time.now() < lapses - 100) {
      nodes.time.pass(100);
      await new Promise(setImmediate);
    }
    expect(lease.lost.aborted).to.equal(false);
    nodes.time.pass(lapses - nodes.time.now());
    expect(lease.lost.aborted).to.equal(true);
  });

  it('expires on time while MongoDB is frozen', async function () {
    if (isReal || nodes.server.pid === undefined) return this.skip();
    const lease = await given(nodes.ann().acquire(nodes.name));
    process.kill(nodes.server.pid, 'SIGSTOP');
    try {
      nodes.time.pass(LEASE_MS - 1);
      expect(lease.lost.aborted).to.equal(false);
      nodes.time.pass(1);
      expect(lease.lost.aborted).to.equal(true);
    } finally {
      process.kill(nodes.server.pid, 'SIGCONT');
    }
  });

  it('is released within the time of one call although a renewal is pending', async function () {
    if (isReal || nodes.server.pid === undefined) return this.skip();
    const lease = await given(nodes.ann().acquire(nodes.name));
    const realTimers = useFakeTimers(nodes.time);
    try {
      process.kill(nodes.server.pid, 'SIGSTOP');
      nodes.time.pass(LEASE_MS / 2);
      let outcome: unknown = 'it is waited for';
      void rejection(lease.release()).then((error) => {
        outcome = error;
      });
      nodes.time.pass(STORE_CALL_MS);
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
      expect(outcome).to.be.instanceOf(UnavailableError);
    } finally {
      realTimers();
      process.kill(nodes.server.pid, 'SIGCONT');
    }
  });

  it('is not granted to a second holder in the same process by a failed earlier read', async () => {
    const dead = fakeClock(nodes.time.now());
    await given(nodes.bob(dead).acquire(nodes.name));
    let fail = () => {};
    let signalRequest = () => {};
    const requested = new Promise<void>((resolve) => {
      signalRequest = resolve;
    });
    const toArray = () => {
      signalRequest();
      return new Promise((_, reject) => {
        fail = () => reject(new Error('MongoDB does not answer'));
      });
    };
    const leases = nodes.node('ann', nodes.time, nodes.modelsWith({ find: () => ({ toArray }) }));
    const refused = leases.acquire(nodes.name).catch(() => 'failed');
    await requested;
    nodes.time.pass(LEASE_MS);
    const lease = await given(leases.acquire(nodes.name));
    fail();
    expect(await refused).to.equal('failed');
    expect(await leases.acquire(nodes.name)).to.equal(undefined);
    await lease.release();
  });

  it('is neither granted nor refused while MongoDB is unavailable, and can be acquired afterwards', async () => {
    const failures = [
      new UnavailableError('MongoDB does not answer'),
      new MongoServerError({ message: 'not authorized', code: 13 }),
      Object.assign(new Error('another code of that number'), { code: 11000 }),
    ];
    const rows = nodes.mongo.models.collection('leases');
    const findOneAndUpdate = (...args: Parameters<typeof rows.findOneAndUpdate>) => {
      const [failure] = failures;
      return failure ? Promise.reject(failure) : rows.findOneAndUpdate(...args);
    };
    const leases = createLeases(nodes.modelsWith({ findOneAndUpdate }), 'ann', { leaseMs: LEASE_MS });
    while (failures.length > 0) {
      expect(await rejection(leases.acquire(nodes.name))).to.equal(failures[0]);
      failures.shift();
    }
    const lease = await given(leases.acquire(nodes.name));
    await lease.release();
  });

  it('is refused without error if its row disappeared meanwhile, and can be acquired then', async () => {
    const dead = fakeClock(nodes.time.now());
    await given(nodes.bob(dead).acquire(nodes.name));
    const rows = nodes.mongo.models.collection<{ _id: string }>('leases');
    const toArray = async () => {
      await rows.deleteOne({ _id: nodes.name });
      return [];
    };
    const leases = nodes.node('ann', nodes.time, nodes.modelsWith({ find: () => ({ toArray }) }));
    expect(await leases.acquire(nodes.name)).to.equal(undefined);
    expect((await given(leases.acquire(nodes.name))).fence).to.equal(1n);
  });

  it('is renewed by real timers by default, and not after its release', async () => {
    const leases = createLeases(nodes.mongo.models, 'ann', { leaseMs: LEASE_MS });
    const renewed = async () => {
      const before = await nodes.lapsesAt();
      await eventually(async () => (await nodes.lapsesAt()) > before);
    };
    const lease = await given(leases.acquire(nodes.name));
    await renewed();
    await renewed();
    expect([lease.lost.aborted, isHeld(lease)]).to.deep.equal([false, true]);
    await lease.release();
    const released = nodes.name;
    nodes.name = `${nodes.name} of another`;
    const other = await given(leases.acquire(nodes.name));
    await renewed();
    await other.release();
    nodes.name = released;
    expect(await nodes.lapsesAt()).to.equal(0);
  });
});
