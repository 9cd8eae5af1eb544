/** Work for later, by the time that only ever goes on; tests bring a time of their own. */

/** Runs work after so many ms; returns what calls it off. */
export type After = (ms: number, work: () => void) => () => void;

export const afterAll: After = (ms, work) => {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
};
