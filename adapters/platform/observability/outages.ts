/** Logs each outage of a store in two lines, instead of one for every failed operation. */
import type { After } from '../../../application/concurrency/index.js';
import { type Logger, StoreFullError, UnavailableError } from '../../../application/ports/index.js';

/** Write probes by store name, as its error messages begin. */
export interface Probes {
  readonly 'the event store': () => Promise<unknown>;
  readonly MongoDB: () => Promise<unknown>;
}

interface Outage {
  readonly startedAt: number;
  last: number;
  /** Number of suppressed lines. */
  lines: number;
}

/** Milliseconds without failures before a store is probed, and between probes. */
const QUIET_MS = 3000;
/** Messages of a store that is unreachable, restarting, electing a leader or out of disk; damage is none of these. */
const AWAY =
  /^(the event store|MongoDB) (?:is away|does not answer|did not answer|was silent|was not done|closed|takes no writes)/;
const DAMAGE = /damage/;

/** A timer that does not keep the process alive. */
const afterUnref: After = (ms, work) => {
  const timer = setTimeout(work, ms).unref();
  return () => clearTimeout(timer);
};

/**
 * Wraps a logger: messages about `UnavailableError` are warnings at most. The first of an outage is logged with its cause;
 * further ones go to debug until the store answers again, which logs the duration.
 */
export function reportOutages(
  logger: Logger,
  probes: Probes,
  { now, after }: { now(): number; after: After } = { now: () => performance.now(), after: afterUnref },
): Logger {
  const outages = new Map<keyof Probes, Outage>();

  function watchRecovery(store: keyof Probes, outage: Outage) {
    after(QUIET_MS, async () => {
      const quiet = now() - outage.last >= QUIET_MS;
      const isBack =
        quiet &&
        (await probes[store]().then(
          () => true,
          () => false,
        ));
      if (!isBack || now() - outage.last < QUIET_MS) return watchRecovery(store, outage);
      outages.delete(store);
      const { startedAt, last, lines } = outage;
      const awayMs = Math.round(last - startedAt);
      logger.info({ store, awayMs, lines }, `${store} answers again, after ${(awayMs / 1000).toFixed(1)} s`);
    });
  }

  const line = (level: 'warn' | 'error') => (fields: object, message: string) => {
    const error = 'err' in fields ? fields.err : undefined;
    if (!(error instanceof UnavailableError)) return logger[level](fields, message);
    const store = storeOf(error);
    if (store === undefined && (outages.size === 0 || DAMAGE.test(error.message))) return logger.warn(fields, message);
    for (const [name, outage] of outages) {
      if (store !== undefined && name !== store) continue;
      outage.lines++;
      if (name === store) outage.last = now();
    }
    if (store !== undefined && !outages.has(store)) {
      const outage = { startedAt: now(), last: now(), lines: 0 };
      outages.set(store, outage);
      logger.warn(
        { err: error, store, first: message },
        `${error instanceof StoreFullError ? error.message : `${store} does not answer`}, trying again until it does`,
      );
      watchRecovery(store, outage);
    } else logger.debug(fields, message);
  };

  return Object.assign(Object.create(logger) as Logger, { warn: line('warn'), error: line('error') });
}

/** Returns the store an error or its cause is about. */
function storeOf(error: unknown): keyof Probes | undefined {
  if (!(error instanceof Error)) return undefined;
  return (AWAY.exec(error.message)?.[1] as keyof Probes | undefined) ?? storeOf(error.cause);
}
