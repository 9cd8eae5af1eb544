/** Ports for read models: rows and projection progress. */
import type { Position } from './event-log.js';

/** Rows of the active builds. */
export interface Rows {
  find<Row>(projection: string, query: RowQuery): Promise<readonly Row[]>;
}

export interface RowQuery {
  /** MongoDB filter over the row's fields. */
  readonly filter: { readonly [field: string]: unknown };
  readonly sort?: { readonly [field: string]: 1 | -1 };
  readonly limit?: number;
}

/** Projection progress, for read-your-writes. */
export interface ProjectionProgress {
  /**
   * Waits until a projection has applied a position and everything that was in the log when the node started. False
   * after `timeoutMs` (default 2 s); the response then says `Consistency: pending`.
   */
  wait(projection: string, position: Position, timeoutMs?: number): Promise<boolean>;
  /** Returns the position of a projection as known to this node; 0 if unknown. */
  position(projection: string): Position;
  /** Returns the last append of this node to any of these streams, or a later one of streams too old to be tracked. */
  latest(streams: readonly string[]): Position;
  /** Returns the last append of this node to any stream of a service. */
  latestOf(service: string): Position;
}
