/** Clock ports. */

export interface Clock {
  /** Unix ms. */
  now(): number;
}

/** Clock that is checked against the event store's. Irreversible actions must use `confirmedNow`. */
export interface ConfirmedClock extends Clock {
  /**
   * Queries the event store and returns the earlier of both clocks, Unix ms. Undefined while they differ too much,
   * whichever is wrong.
   */
  confirmedNow(): Promise<number | undefined>;
  /** Whether both clocks agreed when last compared. */
  inSync(): boolean;
}
