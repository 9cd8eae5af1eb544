/** Clocks. */

export interface Clock {
  /** Unix ms. */
  now(): number;
}

/** A clock that may be found to be wrong: nothing that can't be undone is done by `now` alone. */
export interface ConfirmedClock extends Clock {
  /**
   * The time by which what is over can be ended for ever: the earlier of this machine's and the event store's, asked
   * anew. Undefined while the two are far apart, whichever is wrong. Rejects with `Unavailable`.
   */
  confirmedNow(): Promise<number | undefined>;
  /** Whether there is a certain time, as far as is known. */
  inSync(): boolean;
}
