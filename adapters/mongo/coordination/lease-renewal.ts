/** Renews all leases of a process in one write; a write for each would be a command and a flush, all day long. */
import type { Collection, Long } from 'mongodb';
import type { Clock } from '../../../application/ports/index.js';
import type { After } from '../../platform/process/timer.js';

export interface LeaseRow {
  readonly _id: string;
  readonly owner: string;
  /** Process that claimed it: two processes may share a node name. */
  readonly by?: string;
  readonly fence: Long;
  readonly until: Date;
}

type LeaseIdentity = Omit<LeaseRow, 'until'>;

interface Holder {
  readonly signal: AbortSignal;
  /** Called with the new expiry, by the monotonic clock. */
  onRenewed(until: number): void;
  /** Called when another holder has taken it; `row` is the current row. */
  onTakenOver(row: LeaseRow | undefined): void;
}

export interface Renewals {
  /** Renews the lease until its signal is aborted. Returns a function that awaits a renewal in progress. */
  start(identity: LeaseIdentity, holder: Holder): () => Promise<void>;
}

interface RenewedLease extends Holder {
  readonly identity: LeaseIdentity;
  renewal?: Promise<void> | undefined;
}

export function createLeaseRenewal(
  rows: Collection<LeaseRow>,
  times: {
    readonly leaseMs: number;
    readonly clock: Clock;
    readonly monotonic: Clock;
    readonly after: After;
  },
): Renewals {
  const { leaseMs, clock, monotonic, after } = times;
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
    start(identity, holder) {
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
