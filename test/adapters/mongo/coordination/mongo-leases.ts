/** Nodes that compete for a lease on one MongoDB, in a time that the test lets pass. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type MongoOptions, type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createLeases } from '../../../../adapters/mongo/coordination/leases.js';
import type { Lease } from '../../../../application/ports/index.js';
import { type FakeClock, fakeClock } from '../../../support/fake-clock.js';

export const LEASE_MS = 5000;
/** Time between renewals. */
const RENEWAL_MS = Math.floor(LEASE_MS / 3);

/** For all tests of a `describe`; the lease has another name in each of them. */
export function useLeases(options: MongoOptions = {}) {
  let server: MongoServer;
  let mongo: Mongo;
  let time: FakeClock;
  let name: string;
  before(async () => {
    server = await mongoServer(options);
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });
  beforeEach(() => {
    time = fakeClock();
    name = `projector:${randomUUID()}`;
  });

  const node = (owner: string, clock = time, models = mongo.models) =>
    createLeases(models, owner, { leaseMs: LEASE_MS, clock, monotonic: clock, after: clock.after });
  async function lapsesAt(): Promise<number> {
    const row = await mongo.models.collection<{ _id: string; until: Date }>('leases').findOne({ _id: name });
    return row?.until.getTime() ?? 0;
  }
  return {
    get server() {
      return server;
    },
    get mongo() {
      return mongo;
    },
    get time() {
      return time;
    },
    get name() {
      return name;
    },
    set name(another: string) {
      name = another;
    },
    node,
    ann: (clock?: FakeClock) => node('ann', clock),
    bob: (clock?: FakeClock) => node('bob', clock),
    /** Unix ms when the lease expires; 0 without a holder. */
    lapsesAt,
    /** Waits until the row is renewed and the holder has scheduled the next renewal after the usual time. */
    isRenewed: (before: number, by = time) =>
      eventually(async () => (await lapsesAt()) > before && by.isDue(RENEWAL_MS) && !by.isDue(RENEWAL_MS - 1)),
    /** The database, with these methods of its lease collection replaced. */
    modelsWith(mine: object): Mongo['models'] {
      const rows = mongo.models.collection('leases');
      const collection = () =>
        new Proxy(rows, { get: (_, member) => Reflect.get(mine, member) ?? Reflect.get(rows, member) });
      return new Proxy(mongo.models, {
        get: (db, member) => (member === 'collection' ? collection : Reflect.get(db, member)),
      });
    },
  };
}

export async function given(lease: Promise<Lease | undefined>): Promise<Lease> {
  const held = await lease;
  if (!held) throw new Error('the lease was not given');
  return held;
}

export function isHeld(lease: Lease): boolean {
  try {
    lease.assertHeld();
    return true;
  } catch {
    return false;
  }
}
