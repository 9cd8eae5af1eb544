/** An orderly end of the process: on the first signal step by step, on a later one at once. */
import type { Log } from '../../application/ports.js';
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
  readonly log: Log;
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

/** Ends with 0 once all steps are done, with 1 if one failed or they took too long or somebody insisted. */
export function shutdownOn(options: ShutdownOptions): void {
  const { steps, log, host = process, graceMs = 10_000, now } = options;
  const insisted = () => {
    log.warn({}, 'stopping at once');
    host.exit(1);
  };
  const stop = () => {
    log.info({}, 'stopping');
    const late = setTimeout(() => {
      log.error({ graceMs }, 'stopping took too long');
      host.exit(1);
    }, graceMs);
    void runAll(steps, log).then((failed) => {
      clearTimeout(late);
      log.info({}, 'stopped');
      host.exit(failed ? 1 : 0);
    });
  };
  onEnd(stop, insisted, { host, ...(now && { now }) });
}

async function runAll(steps: Iterable<Step>, log: Log): Promise<boolean> {
  let failed = false;
  for (const { name, run } of steps) {
    try {
      await run();
    } catch (err) {
      failed = true;
      log.error({ err, step: name }, 'could not stop cleanly');
    }
  }
  return failed;
}
