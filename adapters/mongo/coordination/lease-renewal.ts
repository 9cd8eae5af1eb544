/** Renews all leases of a process by one write: each by itself would be a command and a flush, all day long. */
import type { Collection, Long } from 'mongodb';
import type { Clock } from '../../../application/ports/index.js';
import type { After } from '../../platform/process/timer.js';

export interface LeaseRow {
  readonly _id: string;
  readonly owner: string;
  /** The process that claimed it: two may bear the name of one node. */
  readonly by?: string;
  readonly fence: Long;
  readonly until: Date;
}

/** How a lease stands while it is held. */
type Mine = Omit<LeaseRow, 'until'>;

interface Holder {
  /** Aborted when it is not to be renewed any more. */
  readonly signal: AbortSignal;
  /** It lasts until then, by the monotonic clock. */
  renewed(until: number): void;
  /** It is another's: `row` is how it stands now. */
  taken(row: LeaseRow | undefined): void;
}

export interface Renewals {
  /** Renews the lease until its signal is aborted; returns how to wait for a renewal of it that is under way. */
  keep(mine: Mine, holder: Holder): () => Promise<void>;
}

interface RenewedLease extends Holder {
  readonly mine: Mine;
  renewal?: Promise<void> | undefined;
}

/** Each is renewed three times as often as it would lapse. */
export function renewTogether(
  rows: Collection<LeaseRow>,
  times: {
    readonly leaseMs: number;
    readonly clock: Clock;
    readonly monotonic: Clock;
    readonly after: After;
  },
): Renewals {
  const { leaseMs, clock, monotonic, after } = times;
  const kept = new Set<RenewedLease>();
  let callOff: (() => void) | undefined;

  function renewLater() {
    callOff ??= after(Math.floor(leaseMs / 3), () => {
      callOff = undefined;
      // Of one that hangs the others are independent.
      const due = [...kept].filter(({ renewal }) => renewal === undefined);
      const renewal = renew(due).finally(() => {
        for (const each of due) each.renewal = undefined;
        if (kept.size > 0) renewLater();
      });
      for (const each of due) each.renewal = renewal;
    });
  }

  async function renew(due: readonly RenewedLease[]) {
    if (due.length === 0) return;
    const next = monotonic.now() + leaseMs;
    const update = { $set: { until: new Date(clock.now() + leaseMs) } };
    try {
      const writes = due.map(({ mine }) => ({ updateOne: { filter: mine, update } }));
      const { matchedCount } = await rows.bulkWrite(writes, { ordered: false });
      const lost = matchedCount === due.length ? new Map() : await taken(due);
      for (const each of due) {
        if (each.signal.aborted) continue;
        if (lost.has(each)) each.taken(lost.get(each));
        else each.renewed(next);
      }
    } catch {
      // Unreachable for now: a lease is only lost when its time is up.
    }
  }

  /** Those that are not as they were claimed, with their rows. */
  async function taken(due: readonly RenewedLease[]): Promise<Map<RenewedLease, LeaseRow | undefined>> {
    const found = await rows.find({ _id: { $in: due.map(({ mine }) => mine._id) } }).toArray();
    const standing = new Map(found.map((row) => [row._id, row]));
    const isMine = ({ mine }: RenewedLease, row: LeaseRow | undefined) =>
      row?.owner === mine.owner && row.by === mine.by && row.fence.equals(mine.fence);
    const lost = due.filter((each) => !isMine(each, standing.get(each.mine._id)));
    return new Map(lost.map((each) => [each, standing.get(each.mine._id)]));
  }

  return {
    keep(mine, holder) {
      const each: RenewedLease = { ...holder, mine };
      kept.add(each);
      holder.signal.addEventListener('abort', () => {
        kept.delete(each);
        if (kept.size > 0) return;
        callOff?.();
        callOff = undefined;
      });
      renewLater();
      return async () => each.renewal;
    },
  };
}
