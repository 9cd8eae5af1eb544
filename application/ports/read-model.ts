/** Rows of the read models, and how far they are behind the log. */
import type { Position } from './event-log.js';

/** Rows of the served read models. */
export interface Rows {
  find<Row>(projection: string, query: RowQuery): Promise<readonly Row[]>;
}

export interface RowQuery {
  /** MongoDB filter over the row's fields. */
  readonly filter: { readonly [field: string]: unknown };
  readonly sort?: { readonly [field: string]: 1 | -1 };
  readonly limit?: number;
}

/** Read-your-writes: waits until the projection that is read has seen a position. */
export interface ProjectionProgress {
  /**
   * True once this, and all that was in the log when the node started, is seen; false when 2 s (or `mostMs`) have
   * passed first: the answer then says `Consistency: pending`.
   */
  wait(projection: string, position: Position, mostMs?: number): Promise<boolean>;
  /** How far this node knows a projection to be; 0 when it knows nothing yet. */
  position(projection: string): Position;
  /** The last position this node appended to any of these streams and that not all projections may have seen yet. */
  latest(streams: readonly string[]): Position;
  /** The last position this node appended to any stream of a service. */
  latestOf(service: string): Position;
}
