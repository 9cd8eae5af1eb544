/** Leases in MongoDB: of many nodes one is the projector, reaction runner, builder or sweeper (docs/guide/many-nodes.md). */
import { randomUUID } from 'node:crypto';
import { type Collection, type Db, Long, MongoServerError } from 'mongodb';
import { STORE_CALL_MS, withDeadline } from '../../../application/concurrency/index.js';
import { type Clock, type Lease, type Leases, UnavailableError } from '../../../application/ports/index.js';
import { type After, afterAll } from '../../platform/process/timer.js';
import { type LeaseRow, type Renewals, renewTogether } from './lease-renewal.js';

export interface LeaseOptions {
  /** How long a lease lasts that is not renewed, in ms; it is renewed three times as often. */
  readonly leaseMs?: number;
  /** Of the wall: nodes tell each other by it until when a lease lasts, and may be wrong. */
  readonly clock?: Clock;
  /** Only ever goes on, in ms from anywhere: what this node goes by itself. */
  readonly monotonic?: Clock;
  readonly after?: After;
  /** Another process lives that has the name of this one: its data directory was copied. Told once. */
  readonly doubled?: (owner: string) => void;
}

/** How long a lease lasts that is not renewed, ms. */
export const LEASE_MS = 5000;
const DUPLICATE_KEY = 11000;
const RELEASED = new Date(0);

type Times = Required<LeaseOptions>;
type Claimed = Pick<LeaseRow, '_id' | 'owner' | 'by'>;

/**
 * `owner` names this node; a node that restarts under its old name takes its leases up again at once. One whose name
 * another one bears too goes on under a name of its own, or the two would take each other's leases for ever.
 */
export function createLeases(
  db: Db,
  named: string,
  { leaseMs = LEASE_MS, clock = Date, monotonic = performance, after = afterAll, doubled }: LeaseOptions = {},
): Leases {
  let owner = named;
  const by = randomUUID();
  const isDoubled = (name: string) => {
    if (name !== owner) return;
    owner = randomUUID();
    doubled?.(name);
  };
  const times: Times = { leaseMs, clock, monotonic, after, doubled: isDoubled };
  const rows = db.collection<LeaseRow>('leases');
  const watched = watchLeases(rows, times);
  const renewals = renewTogether(rows, times);
  // Within this process a lease is as exclusive as between nodes, though the owner is the same.
  const held = new Set<string>();
  return {
    async acquire(name) {
      if (held.has(name)) return undefined;
      held.add(name);
      const from = monotonic.now();
      let fence: Long | undefined;
      try {
        fence = await claim(rows, { _id: name, owner, by }, clock.now(), leaseMs, watched.standing(name));
      } finally {
        if (fence === undefined) held.delete(name);
      }
      if (fence !== undefined)
        return keep(rows, { _id: name, owner, by, fence }, from, times, renewals, () => held.delete(name));
      await watched.look(name);
      return undefined;
    },
    async holder(name) {
      // Of before the look: the answer may take as long as the lease lasts.
      const standing = watched.standing(name);
      const row = await watched.look(name);
      if (!row || row.until.getTime() === RELEASED.getTime()) return undefined;
      return standing && isSame(row, standing) ? undefined : row.owner;
    },
  };
}

type Standing = Pick<LeaseRow, 'fence' | 'until'>;

/** Watches the leases of others: one that is not renewed in its time has lapsed, whatever its holder's clock said. */
function watchLeases(rows: Collection<LeaseRow>, { leaseMs, monotonic }: Times) {
  const seen = new Map<string, Standing & { readonly since: number }>();
  return {
    /** The lease as it has stood for all of its time; undefined when it has not. */
    standing(name: string): Standing | undefined {
      const { since, ...standing } = seen.get(name) ?? { since: Number.POSITIVE_INFINITY };
      return monotonic.now() - since >= leaseMs ? (standing as Standing) : undefined;
    },
    async look(name: string): Promise<LeaseRow | undefined> {
      const row = await rows.findOne({ _id: name });
      const before = seen.get(name);
      if (!row) seen.delete(name);
      else if (!before || !isSame(before, row))
        seen.set(name, { fence: row.fence, until: row.until, since: monotonic.now() });
      return row ?? undefined;
    },
  };
}

const isSame = (one: Standing, other: Standing): boolean =>
  one.fence.equals(other.fence) && one.until.getTime() === other.until.getTime();

async function claim(
  rows: Collection<LeaseRow>,
  { _id, owner, by }: Claimed,
  now: number,
  leaseMs: number,
  standing: Standing | undefined,
): Promise<Long | undefined> {
  const free = { _id, $or: [{ until: { $lte: new Date(now) } }, { owner }, ...(standing ? [standing] : [])] };
  try {
    const row = await rows.findOneAndUpdate(
      free,
      { $set: { owner, by, until: new Date(now + leaseMs) }, $inc: { fence: Long.ONE } },
      { upsert: true, returnDocument: 'after' },
    );
    return row?.fence;
  } catch (error) {
    // The lease is another's: the upsert met its row.
    if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return undefined;
    throw error;
  }
}

/** Holds the lease until it is released, taken by another, or not renewed in its time. */
function keep(
  rows: Collection<LeaseRow>,
  mine: Claimed & Pick<LeaseRow, 'fence'>,
  from: number,
  { leaseMs, monotonic, after, doubled }: Times,
  renewals: Renewals,
  ended: () => void,
): Lease {
  const lost = new AbortController();
  let until = from + leaseMs;
  const end = () => {
    if (lost.signal.aborted) return;
    callOffEnd();
    lost.abort();
    ended();
  };
  const isHeld = () => !lost.signal.aborted && monotonic.now() < until;
  // A timer of its own: while the database does not answer, nothing else would notice that the time is up.
  let callOffEnd = after(until - monotonic.now(), end);
  const renewed = renewals.keep(mine, {
    signal: lost.signal,
    renewed(next) {
      until = next;
      callOffEnd();
      callOffEnd = after(until - monotonic.now(), end);
    },
    taken(row) {
      end();
      // A claim of this process may have come late, when its answer was not waited for any more.
      if (row?.owner === mine.owner && row.by !== mine.by) doubled(mine.owner);
    },
  });

  return {
    name: mine._id,
    fence: mine.fence.toBigInt(),
    lost: lost.signal,
    assertHeld() {
      if (isHeld()) return;
      end();
      throw new UnavailableError(`the lease of ${mine._id} is lost`);
    },
    async release() {
      end();
      // Before it is over it would stand as held again. Both are one call to those who wait.
      const released = renewed().then(() => rows.updateOne(mine, { $set: { until: RELEASED } }));
      await withDeadline(STORE_CALL_MS, released, 'MongoDB');
    },
  };
}
