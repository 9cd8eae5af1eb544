/** Leader election by lease: one process at a time runs a task or a scheduled job (docs/guide/many-nodes.md). */
import type { KernelPorts } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import { type Lease, type Leases, UnavailableError } from '../ports/index.js';

/** Task of a leader. `stop` is aborted when the lease is lost or the caller stops the task. */
export type LeaderTask<Result = void> = (lease: Lease, stop: AbortSignal) => Promise<Result>;

/**
 * Runs a task under a lease, then releases the lease. Returns undefined, without running it, if another process
 * leads.
 */
export async function withLease<Result>(
  leases: Leases,
  name: string,
  signal: AbortSignal,
  task: LeaderTask<Result>,
): Promise<{ readonly result: Result } | undefined> {
  const lease = await leases.acquire(name);
  if (!lease) return undefined;
  try {
    return { result: await task(lease, AbortSignal.any([signal, lease.lost])) };
  } catch (error) {
    // A task stopped by a lost lease throws a bare AbortError; name the cause.
    const isAborted = error instanceof Error && error.name === 'AbortError';
    if (isAborted && lease.lost.aborted) throw new UnavailableError(`lease ${name} was lost`, { cause: error });
    throw error;
  } finally {
    // A lease that cannot be released expires.
    await lease.release().catch(() => {});
  }
}

export interface LeaderOptions {
  readonly leases: Leases;
  readonly lease: string;
  readonly task: LeaderTask;
  /**
   * Milliseconds until the next attempt: while another process leads, after a failure, and after the task has ended.
   * Doubles with each consecutive failure, up to 5 s, to spare a failing store and the log file.
   */
  readonly standbyMs: number;
  /** While it returns false, other processes lead. */
  readonly mayLead?: (() => boolean) | undefined;
  /** Called when another process leads. */
  readonly onStandby?: () => void;
  /** Called when the task has failed, but not when `signal` has stopped it. */
  readonly onFailure: (error: unknown) => void;
  readonly signal: AbortSignal;
  readonly time?: LeaderTime;
}

interface LeaderTime {
  now(): number;
  readonly sleep: typeof sleep;
}

const MAX_BACKOFF_MS = 5000;

/** Leads whenever no other process does; settles once the signal has stopped it and the lease is released. */
export async function runAsLeader({
  leases,
  lease,
  task,
  standbyMs,
  mayLead = () => true,
  onStandby,
  onFailure,
  signal,
  time = { now: () => performance.now(), sleep },
}: LeaderOptions): Promise<void> {
  const maxBackoff = Math.max(standbyMs, MAX_BACKOFF_MS);
  let backoff = standbyMs;
  while (!signal.aborted) {
    const startedAt = time.now();
    let delay = standbyMs;
    try {
      const run = mayLead() ? await withLease(leases, lease, signal, task) : undefined;
      if (!run) onStandby?.();
      backoff = standbyMs;
    } catch (error) {
      if (!signal.aborted) onFailure(error);
      // A task that ran for a while starts a new series of failures.
      if (time.now() - startedAt > maxBackoff) backoff = standbyMs;
      delay = backoff;
      backoff = Math.min(backoff * 2, maxBackoff);
    }
    await time.sleep(delay, signal);
  }
}

/** Milliseconds between runs of a retention job. */
export const RETENTION_EVERY_MS = 10 * 60_000;

export interface PeriodicOptions extends Pick<KernelPorts, 'leases' | 'logger'> {
  /** `<service>.<what>`, for example `rooms.sweep`. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (stop: AbortSignal) => Promise<void>;
  /** While it returns false, another node runs the job. */
  readonly mayRun?: (() => boolean) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Runs a job immediately and then at an interval while this node holds its lease; settles once the signal has stopped
 * it.
 */
export function runPeriodically({
  name,
  everyMs,
  run,
  mayRun = () => true,
  leases,
  logger,
  signal,
}: PeriodicOptions): Promise<void> {
  return runAsLeader({
    leases,
    lease: `periodic:${name}`,
    async task(_, stop) {
      while (!stop.aborted && mayRun()) {
        await run(stop);
        await sleep(everyMs, stop);
      }
    },
    standbyMs: Math.min(everyMs, 5000),
    mayLead: mayRun,
    onFailure: (err) => logger.error({ err, name }, 'scheduled job failed; retrying'),
    signal,
  });
}

/** For jobs that process many items even if some fail. */
export function collectFailures() {
  const failures: unknown[] = [];
  return {
    /**
     * Awaits one job and records its failure. Rethrows `UnavailableError`: without the store all others would fail too.
     */
    async run(job: Promise<unknown>) {
      try {
        await job;
      } catch (error) {
        if (error instanceof UnavailableError) throw error;
        failures.push(error);
      }
    },
    /** Throws the first recorded failure, if any; call it after the last job. */
    throwFirst() {
      if (failures.length > 0) throw failures[0];
    },
  };
}
