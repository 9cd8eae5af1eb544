/** Ordered checkpoint: the position up to which all events are processed, while their jobs finish in any order. */
import type { Position } from '../ports/index.js';

export interface ConcurrentProcessor {
  /**
   * Starts the job for the event at a position later than all before. Resolves when the job is done, or has called
   * `release` and there is room for another; rejects with the failure of any job.
   */
  start(position: Position, job: (release: () => void) => Promise<void>): Promise<void>;
  /** Reports that there are no more events up to here. */
  advanceTo(position: Position): void;
  lowWatermark(): Position;
  /** Resolves when all started jobs have ended; rejects with the failure of any of them. */
  drain(): Promise<void>;
}

/**
 * @param maxReleased Jobs that may run after having called `release`.
 * @param onReleasedDone Called when such a job has succeeded.
 */
export function createConcurrentProcessor(
  from: Position,
  maxReleased: number,
  onReleasedDone: () => void,
): ConcurrentProcessor {
  let latest = from;
  /** Jobs that run or have failed, in log order, each with the position before it. */
  const jobs = new Map<Promise<void>, Position>();
  let failure: { readonly error: unknown } | undefined;
  let notifyFree = () => {};

  function throwFailure() {
    if (failure) throw failure.error;
  }

  return {
    async start(position, job) {
      throwFailure();
      let isReleased = false;
      let proceed = () => {};
      const released = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      const release = () => {
        isReleased = true;
        proceed();
      };
      const running: Promise<void> = job(release)
        .then(
          () => {
            jobs.delete(running);
            if (isReleased) onReleasedDone();
          },
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .then(() => {
          proceed();
          notifyFree();
        });
      jobs.set(running, latest);
      latest = position;
      await released;
      if (!failure && jobs.size >= maxReleased)
        await new Promise<void>((resolve) => {
          notifyFree = resolve;
        });
      throwFailure();
    },
    advanceTo(position) {
      latest = position;
    },
    lowWatermark: () => jobs.values().next().value ?? latest,
    async drain() {
      await Promise.all(jobs.keys());
      throwFailure();
    },
  };
}
