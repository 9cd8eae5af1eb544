/** Leases in MongoDB: elect one node as projector, reaction runner, builder or sweeper (docs/guide/many-nodes.md). */
import { randomUUID } from 'node:crypto';
import { type Collection, type Db, Long } from 'mongodb';
import {
  type After,
  createBatchLoader,
  STORE_CALL_MS,
  systemTimer,
  withDeadline,
} from '../../../application/concurrency/index.js';
import { type Clock, type Lease, type Leases, UnavailableError } from '../../../application/ports/index.js';
import { isDuplicateKey } from '../call-policy.js';

interface LeaseRow {
  readonly _id: string;
  readonly owner: string;
  /** Process that claimed it: two processes may share a node name. */
  readonly by?: string;
  readonly fence: Long;
  readonly until: Date;
}

export interface LeaseOptions {
  readonly leaseMs?: number;
  /** Wall clock, for the expiry that other nodes see. It may be wrong. */
  readonly clock?: Clock;
  /** Monotonic clock, for this node's own decisions. */
  readonly monotonic?: Clock;
  readonly after?: After;
  /** Called once if another live process uses this node's name: its data directory was copied. */
  readonly onDuplicate?: (owner: string) => void;
}

/** Milliseconds an unrenewed lease lasts. */
export const LEASE_MS = 5000;
const RELEASED = new Date(0);

type Times = Required<LeaseOptions>;
type LeaseClaim = Pick<LeaseRow, '_id' | 'owner' | 'by'>;

/**
 * Creates the leases of a node. A node that restarts under its old name takes its leases over immediately. If another
 * process uses the same name, this one takes a random name: they would take each other's leases for ever.
 */
export function createLeases(
  db: Db,
  nodeName: string,
  { leaseMs = LEASE_MS, clock = Date, monotonic = performance, after = systemTimer, onDuplicate }: LeaseOptions = {},
): Leases & { holders(): Promise<ReadonlyMap<string, string>> } {
  let owner = nodeName;
  const by = randomUUID();
  const onDuplicateName = (name: string) => {
    if (name !== owner) return;
    owner = randomUUID();
    onDuplicate?.(name);
  };
  const times: Times = { leaseMs, clock, monotonic, after, onDuplicate: onDuplicateName };
  const rows = db.collection<LeaseRow>('leases');
  const observed = observeLeases(rows, times);
  const renewals = createLeaseRenewal(rows, times);
  // A lease is exclusive within the process too, although the owner is the same.
  const heldNames = new Set<string>();
  return {
    async acquire(name) {
      if (heldNames.has(name)) return undefined;
      heldNames.add(name);
      const unchanged = observed.unchanged(name);
      let claimedAt = monotonic.now();
      let fence: Long | undefined;
      try {
        // While another node leads, one query for all leases of this node replaces a failing claim of each.
        if (observed.has(name)) {
          const row = await observed.refresh(name);
          if (row && row.owner !== owner && row.until.getTime() > clock.now() && isUnexpired(row, unchanged))
            return undefined;
          claimedAt = monotonic.now();
        }
        fence = await claim(rows, { _id: name, owner, by }, clock.now(), leaseMs, unchanged);
      } finally {
        if (fence === undefined) heldNames.delete(name);
      }
      if (fence !== undefined)
        return holdLease(rows, { _id: name, owner, by, fence }, claimedAt, times, renewals, () =>
          heldNames.delete(name),
        );
      await observed.refresh(name);
      return undefined;
    },
    async holder(name) {
      // Read before the query, which may take as long as a lease lasts.
      const unchanged = observed.unchanged(name);
      const row = await observed.refresh(name);
      return row && isUnexpired(row, unchanged) ? row.owner : undefined;
    },
    /** Returns the node that holds each lease, as `holder` does. */
    async holders() {
      const readAt = monotonic.now();
      const found = await rows.find({}).toArray();
      const held = found.filter((row) => {
        const unchanged = observed.unchanged(row._id, readAt);
        observed.observe(row._id, row);
        return isUnexpired(row, unchanged);
      });
      return new Map(held.map(({ _id, owner }) => [_id, owner]));
    },
  };
}

type LeaseState = Pick<LeaseRow, 'fence' | 'until'>;

/** @param unchanged State that was observed for the whole duration of a lease. */
const isUnexpired = (row: LeaseRow, unchanged: LeaseState | undefined): boolean =>
  row.until.getTime() !== RELEASED.getTime() && !(unchanged && isSame(row, unchanged));

/** Observes leases of other nodes. One that is not renewed in time has expired, regardless of its holder's clock. */
function observeLeases(rows: Collection<LeaseRow>, { leaseMs, monotonic }: Times) {
  const states = new Map<string, LeaseState & { readonly since: number }>();
  const load = createBatchLoader<LeaseRow>(async (names) => {
    const found = await rows.find({ _id: { $in: [...names] } }).toArray();
    return new Map(found.map((row) => [row._id, row]));
  });
  const observe = (name: string, row: LeaseState | undefined) => {
    const previous = states.get(name);
    if (!row) states.delete(name);
    else if (!previous || !isSame(previous, row))
      states.set(name, { fence: row.fence, until: row.until, since: monotonic.now() });
  };
  return {
    observe,
    /** True if the last query found a present or former holder. */
    has: (name: string): boolean => states.has(name),
    unchanged(name: string, now = monotonic.now()): LeaseState | undefined {
      const { since, ...unchanged } = states.get(name) ?? { since: Number.POSITIVE_INFINITY };
      return now - since >= leaseMs ? (unchanged as LeaseState) : undefined;
    },
    async refresh(name: string): Promise<LeaseRow | undefined> {
      const row = await load(name);
      observe(name, row);
      return row;
    },
  };
}

const isSame = (one: LeaseState, other: LeaseState): boolean =>
  one.fence.equals(other.fence) && one.until.getTime() === other.until.getTime();

async function claim(
  rows: Collection<LeaseRow>,
  { _id, owner, by }: LeaseClaim,
  now: number,
  leaseMs: number,
  unchanged: LeaseState | undefined,
): Promise<Long | undefined> {
  const free = { _id, $or: [{ until: { $lte: new Date(now) } }, { owner }, ...(unchanged ? [unchanged] : [])] };
  try {
    const row = await rows.findOneAndUpdate(
      free,
      { $set: { owner, by, until: new Date(now + leaseMs) }, $inc: { fence: Long.ONE } },
      { upsert: true, returnDocument: 'after' },
    );
    return row?.fence;
  } catch (error) {
    // Another node holds the lease: the upsert collided with its row.
    if (isDuplicateKey(error)) return undefined;
    throw error;
  }
}

/** Holds a lease until it is released, taken over or not renewed in time. */
function holdLease(
  rows: Collection<LeaseRow>,
  claimed: LeaseClaim & Pick<LeaseRow, 'fence'>,
  claimedAt: number,
  { leaseMs, monotonic, after, onDuplicate }: Times,
  renewals: ReturnType<typeof createLeaseRenewal>,
  onEnd: () => void,
): Lease {
  const ended = new AbortController();
  let until = claimedAt + leaseMs;
  const endLease = () => {
    if (ended.signal.aborted) return;
    cancelExpiry();
    ended.abort();
    onEnd();
  };
  const isHeld = () => !ended.signal.aborted && monotonic.now() < until;
  // A timer, because nothing else notices the expiry while the database does not answer.
  let cancelExpiry = after(until - monotonic.now(), endLease);
  const pendingRenewal = renewals.start(claimed, {
    signal: ended.signal,
    onRenewed(next) {
      until = next;
      cancelExpiry();
      cancelExpiry = after(until - monotonic.now(), endLease);
    },
    onTakenOver(row) {
      endLease();
      // Checks `by` too: a late claim of this same process is no duplicate.
      if (row?.owner === claimed.owner && row.by !== claimed.by) onDuplicate(claimed.owner);
    },
  });

  return {
    name: claimed._id,
    fence: claimed.fence.toBigInt(),
    lost: ended.signal,
    assertHeld() {
      if (isHeld()) return;
      endLease();
      throw new UnavailableError(`the lease of ${claimed._id} is lost`);
    },
    async release() {
      endLease();
      // A renewal in progress would undo the release. Both count as one call.
      const released = pendingRenewal().then(() => rows.updateOne(claimed, { $set: { until: RELEASED } }));
      await withDeadline(STORE_CALL_MS, released, 'MongoDB');
    },
  };
}

type LeaseIdentity = Omit<LeaseRow, 'until'>;

interface Holder {
  readonly signal: AbortSignal;
  /** Called with the new expiry, by the monotonic clock. */
  onRenewed(until: number): void;
  /** Called when another holder has taken it; `row` is the current row. */
  onTakenOver(row: LeaseRow | undefined): void;
}

interface RenewedLease extends Holder {
  readonly identity: LeaseIdentity;
  renewal?: Promise<void> | undefined;
}

/** Renews all leases of a process in one write; a write for each would be a command and a flush, all day long. */
function createLeaseRenewal(rows: Collection<LeaseRow>, { leaseMs, clock, monotonic, after }: Times) {
  const leases = new Set<RenewedLease>();
  let cancel: (() => void) | undefined;

  function scheduleRenewal() {
    cancel ??= after(Math.floor(leaseMs / 3), () => {
      cancel = undefined;
      // A hanging renewal must not block the other leases.
      const due = [...leases].filter(({ renewal }) => renewal === undefined);
      const renewal = renew(due).finally(() => {
        for (const lease of due) lease.renewal = undefined;
        if (leases.size > 0) scheduleRenewal();
      });
      for (const lease of due) lease.renewal = renewal;
    });
  }

  async function renew(due: readonly RenewedLease[]) {
    if (due.length === 0) return;
    const expiresAt = monotonic.now() + leaseMs;
    const update = { $set: { until: new Date(clock.now() + leaseMs) } };
    try {
      const writes = due.map(({ identity }) => ({ updateOne: { filter: identity, update } }));
      const { matchedCount } = await rows.bulkWrite(writes, { ordered: false });
      const takenOver = matchedCount === due.length ? new Map() : await findTakenOver(due);
      for (const lease of due) {
        if (lease.signal.aborted) continue;
        if (takenOver.has(lease)) lease.onTakenOver(takenOver.get(lease));
        else lease.onRenewed(expiresAt);
      }
    } catch {
      // The database is unreachable. The lease ends only when its time is up.
    }
  }

  async function findTakenOver(due: readonly RenewedLease[]): Promise<Map<RenewedLease, LeaseRow | undefined>> {
    const found = await rows.find({ _id: { $in: due.map(({ identity }) => identity._id) } }).toArray();
    const current = new Map(found.map((row) => [row._id, row]));
    const isUnchanged = ({ identity }: RenewedLease, row: LeaseRow | undefined) =>
      row?.owner === identity.owner && row.by === identity.by && row.fence.equals(identity.fence);
    const takenOver = due.filter((lease) => !isUnchanged(lease, current.get(lease.identity._id)));
    return new Map(takenOver.map((lease) => [lease, current.get(lease.identity._id)]));
  }

  return {
    /** Renews the lease until its signal is aborted. Returns a function that awaits a renewal in progress. */
    start(identity: LeaseIdentity, holder: Holder): () => Promise<void> {
      const lease: RenewedLease = { ...holder, identity };
      leases.add(lease);
      holder.signal.addEventListener('abort', () => {
        leases.delete(lease);
        if (leases.size > 0) return;
        cancel?.();
        cancel = undefined;
      });
      scheduleRenewal();
      return async () => lease.renewal;
    },
  };
}
