/** Work by the clock that one node of all does: sweeping what has expired, retention. */
import { sleep } from '../concurrency/index.js';
import type { Leases, Logger } from '../ports/index.js';
import { runAsLeader } from './leader-election.js';

export interface PeriodicOptions {
  /** `<service>.<what>`, for example `rooms.sweep`. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (stop: AbortSignal) => Promise<void>;
  /** While it says no, the work is left to another node. */
  readonly mayRun?: (() => boolean) | undefined;
  readonly leases: Leases;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Runs at once and then every so often while this node holds the lease; settles when the signal has stopped it. */
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
    async lead(_, stop) {
      while (!stop.aborted && mayRun()) {
        await run(stop);
        await sleep(everyMs, stop);
      }
    },
    standbyMs: Math.min(everyMs, 5000),
    mayLead: mayRun,
    onFailure: (err) => logger.error({ err, name }, 'periodic work failed, trying again'),
    signal,
  });
}
