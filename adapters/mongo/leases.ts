/** Leases in MongoDB: of many nodes one is the active projector, reaction runner, builder or sweeper. */
import { type Collection, type Db, Long, MongoServerError } from 'mongodb';
import type { Lease, Leases } from '../../application/ports.js';

const LEASE_MS = 5000;
const DUPLICATE_KEY = 11000;

interface LeaseRow {
  readonly _id: string;
  readonly owner: string;
  readonly fence: Long;
  readonly until: Date;
}

/** `owner` names this node; a node that restarts under its old name takes its leases up again at once. */
export function createLeases(db: Db, owner: string): Leases {
  const rows = db.collection<LeaseRow>('leases');
  // Within this process a lease is as exclusive as between nodes, though the owner is the same.
  const held = new Set<string>();
  return {
    async acquire(name) {
      if (held.has(name)) return undefined;
      held.add(name);
      try {
        const fence = await claim(rows, name, owner);
        if (fence === undefined) held.delete(name);
        else return lease(rows, name, owner, fence, () => held.delete(name));
      } catch (error) {
        held.delete(name);
        throw error;
      }
    },
    holder: async (name) => {
      const row = await rows.findOne({ _id: name, until: { $gt: new Date() } });
      return row?.owner;
    },
  };
}

async function claim(rows: Collection<LeaseRow>, name: string, owner: string): Promise<bigint | undefined> {
  const now = Date.now();
  const free = { _id: name, $or: [{ until: { $lte: new Date(now) } }, { owner }] };
  try {
    const row = await rows.findOneAndUpdate(
      free,
      { $set: { owner, until: new Date(now + LEASE_MS) }, $inc: { fence: Long.ONE } },
      { upsert: true, returnDocument: 'after' },
    );
    return row?.fence.toBigInt();
  } catch (error) {
    // The lease is another's: the upsert met its row.
    if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return undefined;
    throw error;
  }
}

function lease(
  rows: Collection<LeaseRow>,
  name: string,
  owner: string,
  fence: bigint,
  ended: () => void,
): Lease {
  const mine = { _id: name, owner, fence: Long.fromBigInt(fence) };
  const lost = new AbortController();
  lost.signal.addEventListener('abort', ended, { once: true });
  let held = Date.now() + LEASE_MS;
  const renewal = setInterval(async () => {
    const until = Date.now() + LEASE_MS;
    try {
      const { matchedCount } = await rows.updateOne(mine, { $set: { until: new Date(until) } });
      if (matchedCount === 1) held = until;
      else lost.abort();
    } catch {
      // Unreachable for now: the lease is only lost when its time is up.
    }
    if (Date.now() >= held) lost.abort();
    if (lost.signal.aborted) clearInterval(renewal);
  }, LEASE_MS / 3);
  return {
    fence,
    lost: lost.signal,
    async release() {
      clearInterval(renewal);
      lost.abort();
      await rows.updateOne(mine, { $set: { until: new Date(0) } });
    },
  };
}
