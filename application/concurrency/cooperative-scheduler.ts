/** Cooperative scheduler: splits long jobs into slices, so that they do not block the event loop. */

/** Milliseconds of a slice; far below the 20 ms that the event loop may be blocked (docs/guide/bounds.md). */
const SLICE_MS = 8;

/**
 * Creates a queue of jobs that share one slice per round of the event loop, and do not wait behind those of other
 * queues.
 */
export function createSliceQueue() {
  const waiters: (() => void)[] = [];
  let startedAt = performance.now();

  function startSlice() {
    startedAt = performance.now();
    waiters.shift()?.();
    if (waiters.length > 0) setImmediate(startSlice);
  }

  return {
    /** Whether the current slice is used up. Cheap enough to call for every record. */
    sliceExpired: () => performance.now() - startedAt > SLICE_MS,
    /**
     * Resolves when the caller may run again. Waiters are resumed first-in, first-out, one per round of the event loop:
     * resuming all in one round would block the loop for one slice each.
     */
    nextSlice: () =>
      new Promise<void>((resolve) => {
        waiters.push(resolve);
        if (waiters.length === 1) setImmediate(startSlice);
      }),
  };
}

/** Default queue, for jobs that rarely run concurrently. */
export const { sliceExpired, nextSlice: yieldToEventLoop } = createSliceQueue();

/** Runs a job given as a generator of short steps, yielding to the event loop when a slice has expired. */
export async function runSliced<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (sliceExpired()) await yieldToEventLoop();
  }
}

/**
 * Creates a yield function for a job that runs only once per process: it gets a slice in every round of the event
 * loop.
 */
export function createYielder(): () => Promise<void> | undefined {
  const slices = createSliceQueue();
  return () => (slices.sliceExpired() ? slices.nextSlice() : undefined);
}
