/** Signals that end a process, and its shutdown: in order on the first signal, immediately on a later one. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../application/ports/index.js';

type EndSignal = 'SIGINT' | 'SIGTERM';

/** Source of the signals; the process, except in tests. */
export interface Signals {
  on(signal: EndSignal, listener: () => void): unknown;
  off(signal: EndSignal, listener: () => void): unknown;
}

/** Milliseconds within which signals count as one: npm and supervisors forward them, so one Ctrl-C arrives twice. */
const REPEAT_MS = 1000;

/** `onFirst` is called once; `onRepeated` for later signals. Returns a function that removes the listeners. */
export function onEnd(
  onFirst: () => void,
  onRepeated: () => void,
  { host = process, now = () => performance.now() }: { host?: Signals; now?: (() => number) | undefined } = {},
): () => void {
  let firstAt: number | undefined;
  const listen = () => {
    if (firstAt === undefined) {
      firstAt = now();
      onFirst();
    } else if (now() - firstAt >= REPEAT_MS) onRepeated();
  };
  host.on('SIGINT', listen);
  host.on('SIGTERM', listen);
  return () => {
    host.off('SIGINT', listen);
    host.off('SIGTERM', listen);
  };
}

export interface Step {
  readonly name: string;
  run(): Promise<void> | void;
}

/** Wraps a step so that repeated runs share the first one and its result. */
export function once({ name, run }: Step): Step {
  let first: Promise<void> | undefined;
  return {
    name,
    run() {
      first ??= Promise.resolve().then(run);
      return first;
    },
  };
}

/** Milliseconds for all steps together. */
const GRACE_MS = 10_000;

export interface ShutdownOptions {
  /** Evaluated at shutdown and run in order; a failed step does not stop the others. */
  readonly steps: Iterable<Step>;
  readonly logger: Logger;
  /** Source of the signals; the process, except in tests. */
  readonly host?: SignalHost;
  /** Milliseconds for all steps together. */
  readonly graceMs?: number;
  /** Monotonic clock, ms. */
  readonly now?: () => number;
}

export interface SignalHost extends Signals {
  exit(code: number): void;
}

/**
 * Installs the shutdown on signals. Exits with 0 when all steps are done; with 1 if one failed, took too long, or a second
 * signal came. Returns a function that shuts down with 1, so that a supervisor restarts the process.
 */
export function installShutdown(options: ShutdownOptions): () => void {
  const { steps, logger, host = process, graceMs = GRACE_MS, now } = options;
  const stopNow = () => {
    logger.warn({}, 'stopping immediately');
    host.exit(1);
  };
  const stop = (code: number) => {
    logger.info({}, 'stopping');
    const timeout = setTimeout(() => {
      logger.error({ graceMs }, 'stopping took too long');
      host.exit(1);
    }, graceMs);
    void runAll(steps, logger).then((failed) => {
      clearTimeout(timeout);
      logger.info({}, 'stopped');
      host.exit(failed ? 1 : code);
    });
  };
  onEnd(() => stop(0), stopNow, { host, now });
  return () => stop(1);
}

/** Runs the steps of a failed start, in limited time: an unreachable store would otherwise block exit and restart. */
export async function undoStart(steps: Iterable<Step>, logger: Logger, graceMs = GRACE_MS): Promise<void> {
  const done = new AbortController();
  const timeout = delay(graceMs, undefined, { signal: done.signal }).then(
    () => logger.error({ graceMs }, 'stopping took too long'),
    () => {},
  );
  await Promise.race([runAll(steps, logger), timeout]);
  done.abort();
}

async function runAll(steps: Iterable<Step>, logger: Logger): Promise<boolean> {
  let failed = false;
  for (const { name, run } of steps) {
    try {
      await run();
    } catch (err) {
      failed = true;
      logger.error({ err, step: name }, 'could not stop cleanly');
    }
  }
  return failed;
}
