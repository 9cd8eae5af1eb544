/** Whether a build says what the log says: it is made anew beside it, as far as it has come, and the two are compared. */
import { sleep } from '../../application/concurrency/index.js';
import type { Checkpoints, Lease, Position, Subscribe } from '../../application/ports/index.js';
import { buildUntil, dropBuild, type Progress } from './build.js';
import { compare, type Difference } from './diff-rows.js';
import type { Builds, ReadModel } from './projection.js';
import type { Share } from './shared-subscription.js';

export interface CheckOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  /** Where others are checked at once: what the log has by then is read together with them. */
  readonly share?: Share;
  /** Waits before each comparison, ms: what has caught up by then was no difference. */
  readonly lookAgainMs?: readonly number[];
}

export interface CheckPorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  /** The position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** See `LifecyclePorts`. */
  readonly newRun: (after: string) => string;
}

const LOOK_AGAIN_MS = [0, 100, 500, 2000, 5000];

const checkPrefix = ({ name }: ReadModel) => `${name.replaceAll('.', '_')}_check_`;

/** Of the served build of a read model. Nothing is left of what it is compared with. */
export async function differences(
  ports: CheckPorts,
  projection: ReadModel,
  served: string,
  { lease, signal, onProgress, share, lookAgainMs = LOOK_AGAIN_MS }: CheckOptions & { readonly lease: Lease },
): Promise<readonly Difference[]> {
  const { builds, head } = ports;
  const collection = `${checkPrefix(projection)}${ports.newRun('')}`;
  let follow = share?.follow ?? ports.follow;
  try {
    for (const left of await builds.list(checkPrefix(projection))) await builds.drop(left);
    let differences: readonly Difference[] | undefined;
    // The served rows move on while they are compared, and may be behind: what differs is looked at again later.
    for (const wait of lookAgainMs) {
      if (differences?.length === 0) break;
      await sleep(wait, signal);
      const until = await shown(ports, served);
      const progress = (at: Progress) => onProgress?.(at, until);
      const building = { projection, collection, until, lease, signal, onProgress: progress };
      await buildUntil({ ...ports, follow }, building);
      share?.leave();
      follow = ports.follow;
      const found = await compare(builds.scan(projection, served), builds.scan(projection, collection), until, head);
      const before = differences && new Set(differences.map(({ id }) => id));
      differences = before ? found.filter(({ id }) => before.has(id)) : found;
    }
    return differences ?? [];
  } finally {
    await dropBuild(ports, collection);
  }
}

/** How far a build shows the log: to its end, or less where nobody keeps it up, or not quickly enough. */
async function shown({ head, checkpoints }: CheckPorts, collection: string): Promise<Position> {
  const [last, kept] = [await head(), await checkpoints.read(collection)];
  return kept !== undefined && kept < last ? kept : last;
}
