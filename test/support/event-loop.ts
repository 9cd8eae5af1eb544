/** Counts the rounds of the event loop: what comes in one of them keeps everybody else waiting. */

export interface Rounds {
  /** Of the round that is running. */
  now(): number;
  stop(): void;
}

export function countRounds(): Rounds {
  let rounds = 0;
  let next = setImmediate(turn);
  function turn() {
    rounds++;
    next = setImmediate(turn);
  }
  return { now: () => rounds, stop: () => clearImmediate(next) };
}
