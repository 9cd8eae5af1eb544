/** Scheduled jobs that one node of the cluster runs, such as expiry and retention. */
import { sleep } from '../concurrency/index.js';
import { type Leases, type Logger, UnavailableError } from '../ports/index.js';
import { runAsLeader } from './leader-election.js';

/** Milliseconds between runs of a retention job. */
export const RETENTION_EVERY_MS = 10 * 60_000;

export interface PeriodicOptions {
  /** `<service>.<what>`, for example `rooms.sweep`. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (stop: AbortSignal) => Promise<void>;
  /** While it returns false, another node runs the job. */
  readonly mayRun?: (() => boolean) | undefined;
  readonly leases: Leases;
  readonly logger: Logger;
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

export interface FailureCollector {
  /**
   * Awaits one job and records its failure. Rethrows `UnavailableError`: without the store all others would fail too.
   */
  run(job: Promise<unknown>): Promise<void>;
  /** Throws the first recorded failure, if any; call it after the last job. */
  throwFirst(): void;
}

/** For jobs that process many items even if some fail. */
export function collectFailures(): FailureCollector {
  const failures: unknown[] = [];
  return {
    async run(job) {
      try {
        await job;
      } catch (error) {
        if (error instanceof UnavailableError) throw error;
        failures.push(error);
      }
    },
    throwFirst() {
      if (failures.length > 0) throw failures[0];
    },
  };
}
