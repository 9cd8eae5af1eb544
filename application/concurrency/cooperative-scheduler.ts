/** Long work in turns: nothing holds the event loop longer than a slice, however many are at work. */

/** Far under the 20 ms that anybody may be kept waiting (docs/guide/bounds.md). */
const SLICE_MS = 8;

/** Work of one kind, of which there may be much: all of it together has one turn each round of the event loop. */
export interface SliceQueue {
  /** Whether whoever works now has used up its slice. Cheap enough to be asked for every record. */
  sliceExpired(): boolean;
  /**
   * Resolves when it is one's turn again. Of all who wait one gets each round of the event loop, in the order they
   * came: were all let on in one round, everybody else would wait for as many slices.
   */
  nextSlice(): Promise<void>;
}

/** Turns of a kind of their own: those who wait for others are not behind them. */
export function createSliceQueue(): SliceQueue {
  const waiting: (() => void)[] = [];
  let since = 0;

  function begin() {
    since = performance.now();
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(begin);
  }

  return {
    sliceExpired: () => performance.now() - since > SLICE_MS,
    nextSlice: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 1) setImmediate(begin);
      }),
  };
}

/** For all that does not come in numbers. */
const common = createSliceQueue();
export const sliceExpired = common.sliceExpired;
export const yieldToEventLoop = common.nextSlice;

/** What comes of work in steps, of which each is short. */
export async function runSliced<Result>(steps: Iterator<unknown, Result>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value;
    if (sliceExpired()) await yieldToEventLoop();
  }
}

/** For work of which there is only one: a slice of its own in every round, however many wait for a turn. */
export function createYielder(): () => Promise<void> | undefined {
  let begun = performance.now();
  return () => {
    if (performance.now() - begun <= SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        begun = performance.now();
        resolve();
      });
    });
  };
}
