/** Times of what changes: clocks go back, what happened does not. */

/** `now`, or the latest of the times before which it can't have been: those that there are; Unix ms. */
export const notBefore = (now: number, ...times: readonly (number | null | undefined)[]): number =>
  Math.max(now, ...times.map((each) => each ?? 0));
