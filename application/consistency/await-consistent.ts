/** Read-your-writes: waits before a query until the read model includes the required writes. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Checkpoints, Position, ProjectionProgress, Subscribe } from '../ports/index.js';
import { maxPosition } from './projection-progress.js';

export interface RequiredWrites {
  /** Streams of the query: every reader must see what this node has acknowledged of them. */
  readonly streams?: readonly string[];
  /** Instead of `streams` if they are too many: last position that this node has appended to any of them. */
  readonly lastAppend?: Position;
  /** Position that the caller has seen (`If-Position`). */
  readonly seenByCaller?: Position | undefined;
}

export interface Consistency {
  /** The rows include everything up to here. */
  readonly position: Position;
  /** The rows do not include all required writes yet. */
  readonly consistency?: 'pending';
}

/**
 * Waits until the rows of a projection include the required writes, and everything that was in the log when the node
 * started (docs/guide/reading.md). Returns `pending` after 2 s. Call it before reading the rows; send the result with
 * them.
 */
export async function awaitConsistent(
  projectionProgress: ProjectionProgress,
  projection: string,
  { streams = [], lastAppend = 0n, seenByCaller = 0n }: RequiredWrites,
): Promise<Consistency> {
  const isCurrent = await projectionProgress.wait(
    projection,
    [lastAppend, seenByCaller].reduce(maxPosition, projectionProgress.latest(streams)),
  );
  const position = projectionProgress.position(projection);
  return isCurrent ? { position } : { position, consistency: 'pending' };
}

/** Row with the position of the last event that changed it. */
export interface PositionedRow {
  readonly _at: { toBigInt(): bigint };
}

/** Raises the position to that of the newest row: another node's projector may be ahead of its last checkpoint. */
export const withRows = (consistency: Consistency, rows: readonly PositionedRow[]): Consistency => ({
  ...consistency,
  position: maxPosition(consistency.position, newestOf(rows)),
});

const newestOf = (rows: readonly PositionedRow[]): Position =>
  rows.map(({ _at }) => _at.toBigInt()).reduce(maxPosition, 0n);

export interface CaughtUpPorts {
  readonly follow: Subscribe;
  readonly checkpoints: Pick<Checkpoints, 'read'>;
  readonly projectionProgress: Pick<ProjectionProgress, 'wait'>;
  readonly build: () => string | undefined;
}

/** Creates a function that resolves once the rows include everything in the log at the call; throws if stopped. */
export function createCaughtUpBarrier(
  projection: string,
  { follow, checkpoints, projectionProgress, build }: CaughtUpPorts,
) {
  const service = serviceOf(projection);
  return async (signal: AbortSignal): Promise<void> => {
    let last = 0n;
    const from = (await checkpoints.read(build() ?? '')) ?? 'start';
    for await (const { events, caughtUp } of follow({ prefixes: [`${service}.`], from, signal })) {
      last = events.at(-1)?.position ?? last;
      if (caughtUp) break;
    }
    // A stopped subscription ends early.
    signal.throwIfAborted();
    while (!(await projectionProgress.wait(projection, last))) signal.throwIfAborted();
  };
}
