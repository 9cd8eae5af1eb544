/** Work by the clock that one node of all does: sweeping what has expired, retention. */
import { pause } from './pause.js';
import type { Leases, Log } from './ports.js';

export interface PeriodicOptions {
  /** `<service>.<what>`, for example `rooms.sweep`. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: (stop: AbortSignal) => Promise<void>;
  /** While it says no, the work is left to another node. */
  readonly mayRun?: (() => boolean) | undefined;
  readonly leases: Leases;
  readonly logger: Log;
  readonly signal: AbortSignal;
}

/** Runs at once and then every so often while this node holds the lease; settles when the signal has stopped it. */
export async function runPeriodically({
  name,
  everyMs,
  run,
  mayRun = () => true,
  leases,
  logger,
  signal,
}: PeriodicOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      const lease = mayRun() ? await leases.acquire(`periodic:${name}`) : undefined;
      if (lease) {
        const stop = AbortSignal.any([signal, lease.lost]);
        try {
          while (!stop.aborted && mayRun()) {
            await run(stop);
            await pause(everyMs, stop);
          }
        } finally {
          await lease.release();
        }
      }
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error, name }, 'periodic work failed, trying again');
    }
    await pause(Math.min(everyMs, 5000), signal);
  }
}
