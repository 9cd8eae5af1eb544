/** Leases of several nodes on one MongoDB, in a time that the test lets pass. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { createLeases } from '../../../adapters/mongo/leases.js';
import { type Lease, Unavailable } from '../../../application/ports.js';
import { eventually } from '../../support/condition.js';
import { rejection } from '../../support/eventstore-client.js';
import { type HeldTime, heldTime } from '../../support/held-time.js';
import { holdTimers } from '../../support/held-timers.js';
import { isReal, type MongoServer, mongoServer } from '../../support/mongo.js';

const LEASE_MS = 5000;

describe('a lease', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let time: HeldTime;
  let name: string;

  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });
  beforeEach(() => {
    time = heldTime();
    name = `projector:${randomUUID()}`;
  });

  const node = (owner: string, clock = time) =>
    createLeases(mongo.models, owner, { leaseMs: LEASE_MS, clock, monotonic: clock, after: clock.after });
  const [ann, bob] = [(clock?: HeldTime) => node('ann', clock), (clock?: HeldTime) => node('bob', clock)];
  const given = async (lease: Promise<Lease | undefined>): Promise<Lease> => {
    const held = await lease;
    if (!held) throw new Error('the lease was not given');
    return held;
  };
  const lapsesAt = async () => {
    const row = await mongo.models.collection<{ _id: string; until: Date }>('leases').findOne({ _id: name });
    return row?.until.getTime() ?? 0;
  };
  /** Its row is, and its holder has come to know of it: the next renewal is due. */
  const isRenewed = (before: number, by = time) =>
    eventually(async () => (await lapsesAt()) > before && by.isDue(LEASE_MS / 2));
  const isHeld = (lease: Lease) => {
    try {
      lease.assertHeld();
      return true;
    } catch {
      return false;
    }
  };

  it('is one node at a time, until it lapses and not a moment before', async () => {
    // This node's timers do not run: it has died.
    const dead = heldTime(time.now());
    await given(ann(dead).acquire(name));
    time.pass(LEASE_MS - 1);
    expect(await bob().acquire(name)).to.equal(undefined);
    expect(await bob().holder(name)).to.equal('ann');
    time.pass(1);
    await given(bob().acquire(name));
    expect(await ann().holder(name)).to.equal('bob');
  });

  it('goes on between two whose name is the same by a copy: who is overtaken says so, and bears another', async () => {
    const told: string[] = [];
    const options = { leaseMs: LEASE_MS, clock: time, monotonic: time, after: time.after };
    const first = createLeases(mongo.models, 'copied', {
      ...options,
      doubled: (owner) => void told.push(owner),
    });
    const copy = createLeases(mongo.models, 'copied', options);
    const lease = await given(first.acquire(name));
    const taken = await given(copy.acquire(name));
    time.pass(LEASE_MS / 2);
    await eventually(() => told.length > 0);
    expect([told, isHeld(lease), isHeld(taken)]).to.deep.equal([['copied'], false, true]);
    expect(await first.acquire(name)).to.equal(undefined);
    expect(isHeld(taken)).to.equal(true);
    await taken.release();
    await given(first.acquire(name));
    expect(await copy.acquire(name)).to.equal(undefined);
  });

  it('is seen as held until it was watched for all of its time and not renewed, whatever the clocks say', async () => {
    const renew = (by: HeldTime) =>
      mongo.models
        .collection<{ _id: string }>('leases')
        .updateOne({ _id: name }, { $set: { until: new Date(by.now() + LEASE_MS) } });
    for (const apart of [-7_200_000, -120_000, -LEASE_MS, LEASE_MS, 120_000, 7_200_000]) {
      name = `build:${randomUUID()}`;
      const other = heldTime(time.now() + apart);
      await given(ann(other).acquire(name));
      const watching = bob();
      for (let round = 0; round < 4; round++) {
        expect(await watching.holder(name)).to.equal('ann');
        other.sleep(LEASE_MS / 2);
        await renew(other);
        time.pass(LEASE_MS / 2);
      }
      // Its holder dies: nothing renews it any more.
      expect(await watching.holder(name)).to.equal('ann');
      time.pass(LEASE_MS - 1);
      expect(await watching.holder(name)).to.equal('ann');
      time.pass(1);
      expect(await watching.holder(name)).to.equal(undefined);
      expect(await bob().holder(name)).to.equal('ann');
    }
  });

  it('is nobody’s at the first look once it is released', async () => {
    const lease = await given(ann().acquire(name));
    expect(await bob().holder(name)).to.equal('ann');
    await lease.release();
    expect(await bob().holder(name)).to.equal(undefined);
  });

  it('is seen as held when it was renewed just before a look, however long that takes', async () => {
    const other = heldTime(time.now());
    await given(ann(other).acquire(name));
    const rows = mongo.models.collection('leases');
    let slow = false;
    const findOne = async (...args: Parameters<typeof rows.findOne>) => {
      const row = await rows.findOne(...args);
      if (slow) time.pass(LEASE_MS);
      return row;
    };
    const watching = createLeases(modelsWith({ findOne }), 'bob', {
      leaseMs: LEASE_MS,
      clock: time,
      monotonic: time,
    });
    expect(await watching.holder(name)).to.equal('ann');
    slow = true;
    expect(await watching.holder(name)).to.equal('ann');
    slow = false;
    expect(await watching.holder(name)).to.equal(undefined);
  });

  it('lapses when it is not renewed in its time, however far ahead its holder’s clock was', async () => {
    const hours = heldTime(time.now() + 7_200_000);
    const lease = await given(ann(hours).acquire(name));
    const waiting = bob();
    // As long as it is renewed it is held.
    for (let round = 0; round < 4; round++) {
      expect(await waiting.acquire(name)).to.equal(undefined);
      const before = await lapsesAt();
      hours.pass(LEASE_MS / 2);
      await isRenewed(before, hours);
      time.pass(LEASE_MS / 2);
    }
    expect(isHeld(lease)).to.equal(true);
    expect(await waiting.acquire(name)).to.equal(undefined);
    time.pass(LEASE_MS - 1);
    expect(await waiting.acquire(name)).to.equal(undefined);
    time.pass(1);
    await given(waiting.acquire(name));
  });

  it('is kept for as long as it is renewed, and renewed while half of its time is left', async () => {
    const lease = await given(ann().acquire(name));
    for (let round = 0; round < 5; round++) {
      const before = await lapsesAt();
      time.pass(LEASE_MS / 2);
      await isRenewed(before);
      expect(await lapsesAt()).to.be.greaterThan(time.now() + LEASE_MS / 2);
      expect(await bob().acquire(name)).to.equal(undefined);
    }
    expect(isHeld(lease)).to.equal(true);
    expect(lease.lost.aborted).to.equal(false);
    await lease.release();
  });

  it('has a higher fence with every holder', async () => {
    const fences: bigint[] = [];
    for (const each of [ann(), bob(), bob(), ann()]) {
      const lease = await given(each.acquire(name));
      fences.push(lease.fence);
      await lease.release();
    }
    expect(fences).to.deep.equal([...new Set(fences)].sort((a, b) => (a < b ? -1 : 1)));
  });

  it('is free at once when it is released, and its holder is told', async () => {
    const lease = await given(ann().acquire(name));
    await lease.release();
    expect([lease.lost.aborted, isHeld(lease)]).to.deep.equal([true, false]);
    expect(await bob().holder(name)).to.equal(undefined);
    await given(bob().acquire(name));
  });

  it('is not taken from its new holder by the old one, whether that renews or releases it', async () => {
    const paused = heldTime(time.now());
    const old = await given(ann(paused).acquire(name));
    time.pass(LEASE_MS);
    const present = await given(bob().acquire(name));
    const lapses = await lapsesAt();
    paused.pass(LEASE_MS / 2);
    await eventually(() => old.lost.aborted);
    await old.release();
    expect([await lapsesAt(), await bob().holder(name)]).to.deep.equal([lapses, 'bob']);
    expect(isHeld(present)).to.equal(true);
  });

  it('is lost when another has it, at the next renewal', async () => {
    const lease = await given(ann().acquire(name));
    // Started again under its old name, it takes the lease up at once.
    const again = await given(ann(heldTime(time.now())).acquire(name));
    expect(again.fence > lease.fence).to.equal(true);
    time.pass(LEASE_MS / 2);
    await eventually(() => lease.lost.aborted);
    expect(isHeld(lease)).to.equal(false);
    expect(isHeld(again)).to.equal(true);
  });

  it('is not believed in by a node that was paused, before any timer tells it', async () => {
    const lease = await given(ann().acquire(name));
    time.sleep(LEASE_MS - 1);
    expect(isHeld(lease)).to.equal(true);
    time.sleep(1);
    expect([lease.lost.aborted, isHeld(lease), lease.lost.aborted]).to.deep.equal([false, false, true]);
  });

  it('is exclusive within a process, and can be had again when it was lost', async () => {
    const leases = ann();
    const lease = await given(leases.acquire(name));
    expect(await leases.acquire(name)).to.equal(undefined);
    time.sleep(LEASE_MS);
    expect(isHeld(lease)).to.equal(false);
    const next = await given(leases.acquire(name));
    await lease.release();
    expect(await leases.acquire(name)).to.equal(undefined);
    expect(isHeld(next)).to.equal(true);
  });

  it('survives a MongoDB that fails for a moment, and is lost at its time when it stays away', async () => {
    const failing = { now: false };
    const leases = createLeases(
      {
        collection: (collection: string) => {
          const rows = mongo.models.collection(collection);
          return Object.assign(Object.create(rows), {
            updateOne: (...args: Parameters<typeof rows.updateOne>) =>
              failing.now ? Promise.reject(new Error('not primary')) : rows.updateOne(...args),
          });
        },
      } as unknown as Mongo['models'],
      'ann',
      { leaseMs: LEASE_MS, clock: time, monotonic: time, after: time.after },
    );
    const lease = await given(leases.acquire(name));
    failing.now = true;
    time.pass(LEASE_MS / 2);
    await new Promise(setImmediate);
    failing.now = false;
    const before = await lapsesAt();
    time.pass(LEASE_MS / 2 - 1);
    await isRenewed(before);
    expect(isHeld(lease)).to.equal(true);
    failing.now = true;
    const lapses = await lapsesAt();
    while (time.now() < lapses - 100) {
      time.pass(100);
      await new Promise(setImmediate);
    }
    expect(lease.lost.aborted).to.equal(false);
    time.pass(lapses - time.now());
    expect(lease.lost.aborted).to.equal(true);
  });

  it('is lost at its time while MongoDB is frozen and answers nothing', async function () {
    if (isReal || server.pid === undefined) return this.skip();
    const lease = await given(ann().acquire(name));
    process.kill(server.pid, 'SIGSTOP');
    try {
      time.pass(LEASE_MS - 1);
      expect(lease.lost.aborted).to.equal(false);
      time.pass(1);
      expect(lease.lost.aborted).to.equal(true);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  });

  it("is nobody else's of the same process because a look at it failed that was begun before", async () => {
    const dead = heldTime(time.now());
    await given(bob(dead).acquire(name));
    const rows = mongo.models.collection('leases');
    let fail = () => {};
    let asked = () => {};
    const looking = new Promise<void>((resolve) => {
      asked = resolve;
    });
    const findOne = () => {
      asked();
      return new Promise((_, reject) => {
        fail = () => reject(new Error('MongoDB does not answer'));
      });
    };
    const collection = () =>
      new Proxy(rows, {
        get: (_, member) => (member === 'findOne' ? findOne : Reflect.get(rows, member)),
      });
    const models = new Proxy(mongo.models, {
      get: (db, member) => (member === 'collection' ? collection : Reflect.get(db, member)),
    });
    const leases = createLeases(models, 'ann', {
      leaseMs: LEASE_MS,
      clock: time,
      monotonic: time,
      after: time.after,
    });
    const refused = leases.acquire(name).catch(() => 'failed');
    await looking;
    time.pass(LEASE_MS);
    const lease = await given(leases.acquire(name));
    fail();
    expect(await refused).to.equal('failed');
    expect(await leases.acquire(name)).to.equal(undefined);
    await lease.release();
  });

  /** The database, but for what these say of its rows. */
  const modelsWith = (mine: object) => {
    const rows = mongo.models.collection('leases');
    const collection = () =>
      new Proxy(rows, {
        get: (_, member) => Reflect.get(mine, member) ?? Reflect.get(rows, member),
      });
    return { collection } as unknown as Mongo['models'];
  };

  it('is neither given nor refused while MongoDB is away, and can be had when it is back', async () => {
    const failures = [
      new Unavailable('MongoDB does not answer'),
      new MongoServerError({ message: 'not authorized', code: 13 }),
      Object.assign(new Error('another code of that number'), { code: 11000 }),
    ];
    const rows = mongo.models.collection('leases');
    const findOneAndUpdate = (...args: Parameters<typeof rows.findOneAndUpdate>) => {
      const [failure] = failures;
      return failure ? Promise.reject(failure) : rows.findOneAndUpdate(...args);
    };
    const leases = createLeases(modelsWith({ findOneAndUpdate }), 'ann', { leaseMs: LEASE_MS });
    while (failures.length > 0) {
      expect(await rejection(leases.acquire(name))).to.equal(failures[0]);
      failures.shift();
    }
    const lease = await given(leases.acquire(name));
    await lease.release();
  });

  it('is refused quietly though its row has gone meanwhile, and can be had then', async () => {
    const dead = heldTime(time.now());
    await given(bob(dead).acquire(name));
    const rows = mongo.models.collection<{ _id: string }>('leases');
    const findOne = async () => {
      await rows.deleteOne({ _id: name });
      return null;
    };
    const leases = createLeases(modelsWith({ findOne }), 'ann', {
      leaseMs: LEASE_MS,
      clock: time,
      monotonic: time,
      after: time.after,
    });
    expect(await leases.acquire(name)).to.equal(undefined);
    expect((await given(leases.acquire(name))).fence).to.equal(1n);
  });

  it('is renewed by the timers of the process, where no others are given, and not once it is released', async () => {
    const realTimers = holdTimers(time);
    try {
      const leases = createLeases(mongo.models, 'ann', { leaseMs: LEASE_MS, clock: time, monotonic: time });
      const renewed = async () => {
        const before = await lapsesAt();
        time.pass(LEASE_MS / 2);
        await isRenewed(before);
      };
      const lease = await given(leases.acquire(name));
      await renewed();
      await renewed();
      expect([lease.lost.aborted, isHeld(lease)]).to.deep.equal([false, true]);
      await lease.release();
      const released = name;
      name = `${name} of another`;
      const other = await given(leases.acquire(name));
      await renewed();
      await renewed();
      await other.release();
      name = released;
      expect(await lapsesAt()).to.equal(0);
    } finally {
      realTimers();
    }
  });
});
