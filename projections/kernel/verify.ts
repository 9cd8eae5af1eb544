/** Verifies a build: builds a copy up to the same position and compares the rows. */
import { isDeepStrictEqual } from 'node:util';
import { sleep } from '../../application/concurrency/index.js';
import type { Lease, Position } from '../../application/ports/index.js';
import { type BuildPorts, buildUntil, dropBuild, type Progress } from './build.js';
import type { ReadModel, Row } from './projection.js';

export interface Difference {
  readonly id: string;
  /** `ahead of the log`: changed by an event that the log lacks, for example after a restore from a backup. */
  readonly problem: 'missing' | 'superfluous' | 'different' | 'ahead of the log';
}

export interface CheckOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  readonly onBegun?: () => void;
  /** Delays before each comparison, ms; rows that catch up in between are not reported. */
  readonly lookAgainMs?: readonly number[];
}

export interface CheckPorts extends BuildPorts {
  /** Returns the position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** Returns a new unique run id that sorts after the given one. */
  readonly newRun: (after: string) => string;
}

const DEFAULT_DELAYS_MS = [0, 100, 500, 2000, 5000];

const checkPrefix = ({ name }: ReadModel) => `${name.replaceAll('.', '_')}_check_`;

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

/**
 * Returns the rows that differ. Both inputs must be ordered by `_id`. Ignores rows changed after `until`, unless they
 * are ahead of the log.
 */
async function compare(
  live: AsyncIterable<Row>,
  rebuilt: AsyncIterable<Row>,
  until: Position,
  head: () => Promise<Position>,
): Promise<Difference[]> {
  const differences: Difference[] = [];
  const liveRows = live[Symbol.asyncIterator]();
  const rebuiltRows = rebuilt[Symbol.asyncIterator]();
  let logEnd = until;
  let [a, b] = [await liveRows.next(), await rebuiltRows.next()];
  while (!a.done || !b.done) {
    const order = a.done ? 1 : b.done ? -1 : Buffer.compare(Buffer.from(a.value._id), Buffer.from(b.value._id));
    const row: Row = order <= 0 && !a.done ? a.value : b.value;
    const problem = order < 0 ? 'superfluous' : order > 0 ? 'missing' : 'different';
    const at = row._at.toBigInt();
    if (at > logEnd) logEnd = await head();
    if (at > logEnd) differences.push({ id: row._id, problem: 'ahead of the log' });
    else if (at <= until && (order !== 0 || !isDeepStrictEqual(a.value, b.value)))
      differences.push({ id: row._id, problem });
    if (order <= 0) a = await liveRows.next();
    if (order >= 0) b = await rebuiltRows.next();
  }
  return differences;
}
