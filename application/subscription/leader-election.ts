/** What one process of all does at a time: it leads while it holds a lease (docs/guide/many-nodes.md). */
import { sleep } from '../concurrency/index.js';
import { type Lease, type Leases, UnavailableError } from '../ports/index.js';

/** Work under a lease: `stop` is aborted when the lease is lost, or whoever asked for the work wants it to end. */
export type LeaderTask<Result = void> = (lease: Lease, stop: AbortSignal) => Promise<Result>;

/**
 * Runs work under a lease, and gives the lease back. Undefined, and nothing was run, while another process holds it.
 * Rejects with what the work rejects with.
 */
export async function withLease<Result>(
  leases: Leases,
  name: string,
  signal: AbortSignal,
  lead: LeaderTask<Result>,
): Promise<{ readonly result: Result } | undefined> {
  const lease = await leases.acquire(name);
  if (!lease) return undefined;
  try {
    return { result: await lead(lease, AbortSignal.any([signal, lease.lost])) };
  } catch (error) {
    // Work that is stopped because the lease was lost says only that it was aborted.
    const isAborted = error instanceof Error && error.name === 'AbortError';
    if (isAborted && lease.lost.aborted) throw new UnavailableError(`the lease of ${name} is lost`, { cause: error });
    throw error;
  } finally {
    // What can't be given back lapses.
    await lease.release().catch(() => {});
  }
}

export interface Leading {
  readonly leases: Leases;
  readonly lease: string;
  readonly lead: LeaderTask;
  /**
   * Before it is tried again: after another one was found leading, after a failure, and after `lead` came to its end.
   * Twice as long after each further failure in a row, up to 5 s: a store that refuses at once is not asked, and told
   * of, all the time.
   */
  readonly standbyMs: number;
  /** While it says no, the work is left to others. */
  readonly mayLead?: (() => boolean) | undefined;
  /** Told when another one leads. */
  readonly onStandby?: () => void;
  /** Told why leading ended, but not that the signal ended it. */
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly time?: LeadingTime;
}

interface LeadingTime {
  now(): number;
  readonly sleep: typeof sleep;
}

const MOST_MS = 5000;

/** Leads whenever nobody else does; settles when the signal has stopped it and the lease is given back. */
export async function runAsLeader({
  leases,
  lease,
  lead,
  standbyMs,
  mayLead = () => true,
  onStandby,
  onFailure,
  signal,
  time = { now: () => performance.now(), sleep },
}: Leading): Promise<void> {
  const most = Math.max(standbyMs, MOST_MS);
  let wait = standbyMs;
  while (!signal.aborted) {
    const begun = time.now();
    let next = standbyMs;
    try {
      const held = mayLead() ? await withLease(leases, lease, signal, lead) : undefined;
      if (!held) onStandby?.();
      wait = standbyMs;
    } catch (error) {
      if (!signal.aborted) onFailure(error);
      // What went well until now has not failed in a row.
      if (time.now() - begun > most) wait = standbyMs;
      next = wait;
      wait = Math.min(wait * 2, most);
    }
    await time.sleep(next, signal);
  }
}
