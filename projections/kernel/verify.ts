/** Verifies a build: builds a copy up to the same position and compares the rows. */
import { sleep } from '../../application/concurrency/index.js';
import type { Checkpoints, Lease, Position, Subscribe } from '../../application/ports/index.js';
import { buildUntil, dropBuild, type Progress } from './build.js';
import { compare, type Difference } from './diff-rows.js';
import type { Builds, ReadModel } from './projection.js';

export interface CheckOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  /** Delays before each comparison, ms; rows that catch up in between are not reported. */
  readonly lookAgainMs?: readonly number[];
}

export interface CheckPorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  /** Returns the position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** See `RebuildPorts`. */
  readonly newRun: (after: string) => string;
}

const DEFAULT_DELAYS_MS = [0, 100, 500, 2000, 5000];

const checkPrefix = ({ name }: ReadModel) => `${name.replaceAll('.', '_')}_check_`;

/** Returns the differences of the active build. Drops the rebuilt copy at the end. */
export async function differences(
  ports: CheckPorts,
  projection: ReadModel,
  served: string,
  { lease, signal, onProgress, lookAgainMs = DEFAULT_DELAYS_MS }: CheckOptions & { readonly lease: Lease },
): Promise<readonly Difference[]> {
  const { builds, head } = ports;
  const collection = `${checkPrefix(projection)}${ports.newRun('')}`;
  try {
    for (const leftover of await builds.list(checkPrefix(projection))) await builds.drop(leftover);
    let differences: readonly Difference[] | undefined;
    // The active rows change during the comparison and may lag: differences are compared again later.
    for (const delayMs of lookAgainMs) {
      if (differences?.length === 0) break;
      await sleep(delayMs, signal);
      const until = await positionOf(ports, served);
      const reportProgress = (progress: Progress) => onProgress?.(progress, until);
      const options = { projection, collection, until, lease, signal, onProgress: reportProgress };
      await buildUntil(ports, options);
      const found = await compare(builds.scan(projection, served), builds.scan(projection, collection), until, head);
      const before = differences && new Set(differences.map(({ id }) => id));
      differences = before ? found.filter(({ id }) => before.has(id)) : found;
    }
    return differences ?? [];
  } finally {
    await dropBuild(ports, collection);
  }
}

/** Returns the position of a build: the end of the log, or its checkpoint if it lags behind. */
async function positionOf({ head, checkpoints }: CheckPorts, collection: string): Promise<Position> {
  const [end, checkpoint] = [await head(), await checkpoints.read(collection)];
  return checkpoint !== undefined && checkpoint < end ? checkpoint : end;
}
