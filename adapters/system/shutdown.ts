/** An orderly end of the process: on the first signal step by step, on a later one at once. */
import type { Logger } from '../../application/ports.js';
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
  const { steps, logger, host = process, graceMs = 10_000, now } = options;
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
