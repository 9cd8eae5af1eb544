/** Monotonic timestamps: clocks may go back, event times must not. */

/** Returns `now`, or the latest of the given earlier times if the clock has gone back; Unix ms. */
export const notBefore = (now: number, ...times: readonly (number | null | undefined)[]): number =>
  Math.max(now, ...times.map((time) => time ?? 0));
