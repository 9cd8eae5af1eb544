/** An orderly end of the process: on the first signal step by step, on a later one at once. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../../../application/ports/index.js';
import { onEnd, type Signals } from './signals.js';

export interface Step {
  readonly name: string;
  run(): Promise<void> | void;
}

/** Whoever runs it again waits for the first run, and is told what came of that. */
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

/** For all steps together, ms. */
const GRACE_MS = 10_000;

export interface ShutdownOptions {
  /** Asked for when the end comes. Run one after the other; one that fails does not keep the others from running. */
  readonly steps: Iterable<Step>;
  readonly logger: Logger;
  /** What sends the signals and ends; the process, but for tests. */
  readonly host?: SignalHost;
  /** For all steps together. */
  readonly graceMs?: number;
  /** Ms that never go back. */
  readonly now?: () => number;
}

export interface SignalHost extends Signals {
  exit(code: number): void;
}

/**
 * Ends with 0 once all steps are done, with 1 if one failed or they took too long or somebody insisted. Returns what
 * ends it the same way unasked: with 1, so that it is started again.
 */
export function shutdownOn(options: ShutdownOptions): () => void {
  const { steps, logger, host = process, graceMs = GRACE_MS, now } = options;
  const insisted = () => {
    logger.warn({}, 'stopping at once');
    host.exit(1);
  };
  const stop = (code: number) => {
    logger.info({}, 'stopping');
    const late = setTimeout(() => {
      logger.error({ graceMs }, 'stopping took too long');
      host.exit(1);
    }, graceMs);
    void runAll(steps, logger).then((failed) => {
      clearTimeout(late);
      logger.info({}, 'stopped');
      host.exit(failed ? 1 : code);
    });
  };
  onEnd(() => stop(0), insisted, { host, ...(now && { now }) });
  return () => stop(1);
}

/**
 * Runs the steps of a start that has failed. Resolves when all are done, and where they take too long, too: who waits for
 * a store that answers no more would not end, and nobody starts again what has not ended.
 */
export async function undo(steps: Iterable<Step>, logger: Logger, graceMs = GRACE_MS): Promise<void> {
  const done = new AbortController();
  const late = delay(graceMs, undefined, { signal: done.signal }).then(
    () => logger.error({ graceMs }, 'stopping took too long'),
    () => {},
  );
  await Promise.race([runAll(steps, logger), late]);
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
