/** Leases of several nodes on one MongoDB, with a controlled clock. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { Long } from 'mongodb';
import { createLeases } from '../../../../adapters/mongo/coordination/leases.js';
import type { Lease } from '../../../../application/ports/index.js';
import { type FakeClock, fakeClock } from '../../../support/fake-clock.js';
import { given, isHeld, LEASE_MS, useLeases } from './mongo-leases.js';

describe('a lease', () => {
  const nodes = useLeases();
  /** Whether the current renewal has ended, by success or by loss. */
  const isRenewalOver = (lease: Lease, by = nodes.time) => lease.lost.aborted || by.isDue(LEASE_MS / 3);

  it('has one holder until it expires, and not a moment longer', async () => {
    // This node's timers do not run: it is dead.
    const dead = fakeClock(nodes.time.now());
    await given(nodes.ann(dead).acquire(nodes.name));
    nodes.time.pass(LEASE_MS - 1);
    expect(await nodes.bob().acquire(nodes.name)).to.equal(undefined);
    expect(await nodes.bob().holder(nodes.name)).to.equal('ann');
    nodes.time.pass(1);
    await given(nodes.bob().acquire(nodes.name));
    expect(await nodes.ann().holder(nodes.name)).to.equal('bob');
  });

  it('is listed with its holder until it is released, or was not renewed for as long as it lasts', async () => {
    const dead = fakeClock(nodes.time.now());
    const lease = await given(nodes.ann(dead).acquire(nodes.name));
    const viewer = nodes.bob();
    const holder = async () => (await viewer.holders()).get(nodes.name);
    expect(await holder()).to.equal('ann');
    nodes.time.pass(LEASE_MS - 1);
    expect(await holder()).to.equal('ann');
    nodes.time.pass(1);
    expect(await holder()).to.equal(undefined);
    await lease.release();
    expect((await nodes.bob().holders()).has(nodes.name)).to.equal(false);
    const next = await given(nodes.bob().acquire(nodes.name));
    expect(await holder()).to.equal('bob');
    await next.release();
    expect(await holder()).to.equal(undefined);
  });

  it('detects a second node with a copied name: the node that loses reports it and takes a new name', async () => {
    const duplicates: string[] = [];
    const options = { leaseMs: LEASE_MS, clock: nodes.time, monotonic: nodes.time, after: nodes.time.after };
    const first = createLeases(nodes.mongo.models, 'copied', {
      ...options,
      onDuplicate: (owner) => void duplicates.push(owner),
    });
    const copyTime = fakeClock(nodes.time.now());
    const copy = createLeases(nodes.mongo.models, 'copied', {
      ...options,
      monotonic: copyTime,
      after: copyTime.after,
    });
    const lease = await given(first.acquire(nodes.name));
    const taken = await given(copy.acquire(nodes.name));
    nodes.time.pass(LEASE_MS / 2);
    await eventually(() => isRenewalOver(lease));
    expect([duplicates, isHeld(lease), isHeld(taken)]).to.deep.equal([['copied'], false, true]);
    expect(await first.acquire(nodes.name)).to.equal(undefined);
    expect(isHeld(taken)).to.equal(true);
    await taken.release();
    await given(first.acquire(nodes.name));
    expect(await copy.acquire(nodes.name)).to.equal(undefined);
  });

  it('is claimed anew under the same name when an earlier claim arrived late', async () => {
    const duplicates: string[] = [];
    const options = { leaseMs: LEASE_MS, clock: nodes.time, monotonic: nodes.time, after: nodes.time.after };
    const onDuplicate = (owner: string) => void duplicates.push(owner);
    const node = createLeases(nodes.mongo.models, 'single', { ...options, onDuplicate });
    const rows = nodes.mongo.models.collection<{ _id: string }>('leases');
    const renewed = async (lease: Lease) => {
      nodes.time.pass(LEASE_MS / 2);
      await eventually(() => isRenewalOver(lease));
      return isHeld(lease);
    };
    const lease = await given(node.acquire(nodes.name));
    // As the store executes it then.
    await rows.updateOne({ _id: nodes.name }, { $inc: { fence: Long.ONE } });
    expect(await renewed(lease)).to.equal(false);
    const again = await given(node.acquire(nodes.name));
    expect(await renewed(again)).to.equal(true);
    expect([duplicates, await node.holder(nodes.name)]).to.deep.equal([[], 'single']);
    await again.release();
  });

  it('counts as held until it was observed unrenewed for its whole duration, whatever the clocks say', async () => {
    const renew = (by: FakeClock) =>
      nodes.mongo.models
        .collection<{ _id: string }>('leases')
        .updateOne({ _id: nodes.name }, { $set: { until: new Date(by.now() + LEASE_MS) } });
    for (const offsetMs of [-7_200_000, -120_000, -LEASE_MS, LEASE_MS, 120_000, 7_200_000]) {
      nodes.name = `build:${randomUUID()}`;
      const other = fakeClock(nodes.time.now() + offsetMs);
      await given(nodes.ann(other).acquire(nodes.name));
      const watching = nodes.bob();
      for (let round = 0; round < 4; round++) {
        expect(await watching.holder(nodes.name)).to.equal('ann');
        other.sleep(LEASE_MS / 2);
        await renew(other);
        nodes.time.pass(LEASE_MS / 2);
      }
      // Its holder dies: nothing renews it any more.
      expect(await watching.holder(nodes.name)).to.equal('ann');
      nodes.time.pass(LEASE_MS - 1);
      expect(await watching.holder(nodes.name)).to.equal('ann');
      nodes.time.pass(1);
      expect(await watching.holder(nodes.name)).to.equal(undefined);
      expect(await nodes.bob().holder(nodes.name)).to.equal('ann');
    }
  });

  it('is free at the first look after its release', async () => {
    const lease = await given(nodes.ann().acquire(nodes.name));
    expect(await nodes.bob().holder(nodes.name)).to.equal('ann');
    await lease.release();
    expect(await nodes.bob().holder(nodes.name)).to.equal(undefined);
  });

  it('is waited for with one query for all leases of a node, and no claim while another node leads', async () => {
    const [ann, bob] = [nodes.ann(), { queries: 0, claims: 0 }];
    const names = ['one', 'two', 'three'].map((each) => `${nodes.name}-${each}`);
    const held = await Promise.all(names.map((name) => given(ann.acquire(name))));
    const rows = nodes.mongo.models.collection('leases');
    const find = (filter: object) => {
      bob.queries++;
      return rows.find(filter);
    };
    const findOneAndUpdate = (...args: Parameters<typeof rows.findOneAndUpdate>) => {
      bob.claims++;
      return rows.findOneAndUpdate(...args);
    };
    const standby = nodes.node('bob', nodes.time, nodes.modelsWith({ find, findOneAndUpdate }));
    const attempt = () => Promise.all(names.map((name) => standby.acquire(name)));
    expect(await attempt()).to.deep.equal([undefined, undefined, undefined]);
    Object.assign(bob, { queries: 0, claims: 0 });
    for (let times = 0; times < 3; times++) expect(await attempt()).to.deep.equal([undefined, undefined, undefined]);
    expect(bob).to.deep.equal({ queries: 3, claims: 0 });
    await held[1]!.release();
    expect((await attempt()).map((lease) => lease?.name)).to.deep.equal([undefined, names[1], undefined]);
    expect(bob).to.deep.equal({ queries: 4, claims: 1 });
  });

  it('counts as held if renewed just before a look, however long the look takes', async () => {
    const other = fakeClock(nodes.time.now());
    await given(nodes.ann(other).acquire(nodes.name));
    const rows = nodes.mongo.models.collection('leases');
    let slow = false;
    const find = (filter: object) => ({
      async toArray() {
        const found = await rows.find(filter).toArray();
        if (slow) nodes.time.pass(LEASE_MS);
        return found;
      },
    });
    const watching = createLeases(nodes.modelsWith({ find }), 'bob', {
      leaseMs: LEASE_MS,
      clock: nodes.time,
      monotonic: nodes.time,
    });
    expect(await watching.holder(nodes.name)).to.equal('ann');
    slow = true;
    expect(await watching.holder(nodes.name)).to.equal('ann');
    slow = false;
    expect(await watching.holder(nodes.name)).to.equal(undefined);
  });

  it("expires without renewal, however far ahead its holder's clock was", async () => {
    const hours = fakeClock(nodes.time.now() + 7_200_000);
    const lease = await given(nodes.ann(hours).acquire(nodes.name));
    const waiting = nodes.bob();
    // While it is renewed it is held.
    for (let round = 0; round < 4; round++) {
      expect(await waiting.acquire(nodes.name)).to.equal(undefined);
      const before = await nodes.lapsesAt();
      hours.pass(LEASE_MS / 2);
      await nodes.isRenewed(before, hours);
      nodes.time.pass(LEASE_MS / 2);
    }
    expect(isHeld(lease)).to.equal(true);
    expect(await waiting.acquire(nodes.name)).to.equal(undefined);
    nodes.time.pass(LEASE_MS - 1);
    expect(await waiting.acquire(nodes.name)).to.equal(undefined);
    nodes.time.pass(1);
    await given(waiting.acquire(nodes.name));
  });

  it('is kept while renewed, and renewed at half of its duration', async () => {
    const lease = await given(nodes.ann().acquire(nodes.name));
    for (let round = 0; round < 5; round++) {
      const before = await nodes.lapsesAt();
      nodes.time.pass(LEASE_MS / 2);
      await nodes.isRenewed(before);
      expect(await nodes.lapsesAt()).to.be.greaterThan(nodes.time.now() + LEASE_MS / 2);
      expect(await nodes.bob().acquire(nodes.name)).to.equal(undefined);
    }
    expect(isHeld(lease)).to.equal(true);
    expect(lease.lost.aborted).to.equal(false);
    await lease.release();
  });

  it('is renewed with all others of its process in one write, and lost alone', async () => {
    const rows = nodes.mongo.models.collection<{ _id: string }>('leases');
    const writes: number[] = [];
    const bulkWrite = (...args: Parameters<typeof rows.bulkWrite>) => {
      writes.push(args[0].length);
      return rows.bulkWrite(...args);
    };
    const node = nodes.node('ann', nodes.time, nodes.modelsWith({ bulkWrite }));
    const names = ['first', 'second', 'third'].map((name) => `${nodes.name}:${name}`);
    const leases = await Promise.all(names.map((name) => given(node.acquire(name))));
    await rows.updateOne({ _id: names[1]! }, { $inc: { fence: Long.ONE } });
    nodes.time.pass(LEASE_MS / 2);
    await eventually(() => isRenewalOver(leases[0]!));
    expect(leases[1]!.lost.aborted).to.equal(true);
    nodes.time.pass(LEASE_MS / 2);
    await eventually(() => writes.length === 2 && nodes.time.isDue(LEASE_MS / 2));
    expect([writes, leases.map(isHeld)]).to.deep.equal([
      [3, 2],
      [true, false, true],
    ]);
    for (const lease of leases) await lease.release();
    expect(nodes.time.isDue(LEASE_MS)).to.equal(false);
  });

  it('has a higher fencing token with every holder', async () => {
    const fences: bigint[] = [];
    for (const each of [nodes.ann(), nodes.bob(), nodes.bob(), nodes.ann()]) {
      const lease = await given(each.acquire(nodes.name));
      fences.push(lease.fence);
      await lease.release();
    }
    expect(fences).to.deep.equal([...new Set(fences)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('is free immediately after release, and its holder is notified', async () => {
    const lease = await given(nodes.ann().acquire(nodes.name));
    await lease.release();
    expect([lease.lost.aborted, isHeld(lease)]).to.deep.equal([true, false]);
    expect(await nodes.bob().holder(nodes.name)).to.equal(undefined);
    await given(nodes.bob().acquire(nodes.name));
  });

  it("cannot be taken from its new holder by the old one's renewal or release", async () => {
    const paused = fakeClock(nodes.time.now());
    const old = await given(nodes.ann(paused).acquire(nodes.name));
    nodes.time.pass(LEASE_MS);
    const present = await given(nodes.bob().acquire(nodes.name));
    const lapses = await nodes.lapsesAt();
    paused.pass(LEASE_MS / 2);
    await eventually(() => isRenewalOver(old, paused));
    expect(old.lost.aborted).to.equal(true);
    await old.release();
    expect([await nodes.lapsesAt(), await nodes.bob().holder(nodes.name)]).to.deep.equal([lapses, 'bob']);
    expect(isHeld(present)).to.equal(true);
  });

  it('is lost at the next renewal when another node has it', async () => {
    const lease = await given(nodes.ann().acquire(nodes.name));
    // A restart under the same name acquires the lease immediately.
    const again = await given(nodes.ann(fakeClock(nodes.time.now())).acquire(nodes.name));
    expect(again.fence > lease.fence).to.equal(true);
    nodes.time.pass(LEASE_MS / 2);
    await eventually(() => isRenewalOver(lease));
    expect([lease.lost.aborted, isHeld(lease), isHeld(again)]).to.deep.equal([true, false, true]);
  });

  it('is not trusted by a node that was paused, even before a timer fires', async () => {
    const lease = await given(nodes.ann().acquire(nodes.name));
    nodes.time.sleep(LEASE_MS - 1);
    expect(isHeld(lease)).to.equal(true);
    nodes.time.sleep(1);
    expect([lease.lost.aborted, isHeld(lease), lease.lost.aborted]).to.deep.equal([false, false, true]);
  });

  it('is exclusive within a process, and can be acquired again after a loss', async () => {
    const leases = nodes.ann();
    const lease = await given(leases.acquire(nodes.name));
    expect(await leases.acquire(nodes.name)).to.equal(undefined);
    nodes.time.sleep(LEASE_MS);
    expect(isHeld(lease)).to.equal(false);
    const next = await given(leases.acquire(nodes.name));
    await lease.release();
    expect(await leases.acquire(nodes.name)).to.equal(undefined);
    expect(isHeld(next)).to.equal(true);
  });
});
