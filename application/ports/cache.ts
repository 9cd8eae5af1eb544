/** Size of an in-memory cache, for metrics. */

export interface Cache {
  readonly name: string;
  readonly limitBytes: number;
  /** Returns the estimated size. */
  bytes(): number;
}
