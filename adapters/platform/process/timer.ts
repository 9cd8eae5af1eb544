/** Work for later, by the time that only ever goes on; tests bring a time of their own. */

/** Runs work after so many ms; returns what calls it off. */
export type After = (ms: number, work: () => void) => () => void;

export const afterAll: After = (ms, work) => {
  // What is overdue already is due now: newer releases of Node warn of a time that is negative.
  const timer = setTimeout(work, Math.max(0, ms));
  return () => clearTimeout(timer);
};
