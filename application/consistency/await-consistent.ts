/** What a query says before it reads rows: whose writes they must show. And what its answer says: up to where they do. */
import type { Position, ProjectionProgress } from '../ports/index.js';

/** What a reader must be shown. */
export interface Required {
  /** The streams it is about: what this node has acknowledged of them is owed to every reader. */
  readonly streams?: readonly string[];
  /** The same where they are too many to name: the last position that this node has appended to any of them. */
  readonly told?: Position;
  /** What the caller has seen, `If-Position`. */
  readonly seen?: Position | undefined;
}

/** The place in the log that an answer tells. */
export interface Consistency {
  /** Everything up to here is shown. */
  readonly position: Position;
  /** Not everything is shown that is owed. */
  readonly consistency?: 'pending';
}

/**
 * Reading what was written (docs/guide/reading.md): to be awaited before the rows of `projection` are read, to be told with
 * them. Waits until they show what is owed, and all that was in the log when the node started; after 2 s they are
 * `pending`.
 */
export async function awaitConsistent(
  settled: ProjectionProgress,
  projection: string,
  { streams = [], told = 0n, seen = 0n }: Required,
): Promise<Consistency> {
  const inStep = await settled.wait(projection, [told, seen].reduce(maxPosition, settled.latest(streams)));
  const position = settled.position(projection);
  return inStep ? { position } : { position, consistency: 'pending' };
}

/** A row, with the position of the event that touched it last. */
export interface Positioned {
  readonly _at: { toBigInt(): bigint };
}

/** The same with the rows that were found: these may be ahead of what this node knows of another node's projector. */
export const withRows = (reflected: Consistency, rows: readonly Positioned[]): Consistency => ({
  ...reflected,
  position: maxPosition(reflected.position, newestOf(rows)),
});

/** The last event that touched any of the rows; 0 for none. */
const newestOf = (rows: readonly Positioned[]): Position =>
  rows.map(({ _at }) => _at.toBigInt()).reduce(maxPosition, 0n);

/** The later of two places in the log. */
export const maxPosition = (a: Position, b: Position): Position => (a > b ? a : b);
