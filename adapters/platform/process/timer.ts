/** Timers that tests can replace. */

/** Runs a callback after some ms; returns a function that cancels it. */
export type After = (ms: number, work: () => void) => () => void;

export const systemTimer: After = (ms, work) => {
  // Clamped: newer releases of Node warn about negative delays.
  const timer = setTimeout(work, Math.max(0, ms));
  return () => clearTimeout(timer);
};
