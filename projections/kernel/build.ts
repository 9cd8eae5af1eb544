/** Builds a read model from the log into a collection of its own, beside the one that is served. */
import { setTimeout as delay } from 'node:timers/promises';
import { sleep } from '../../application/concurrency/index.js';
import {
  type Checkpoints,
  type Lease,
  type Leases,
  type Position,
  type Subscribe,
  UnavailableError,
} from '../../application/ports/index.js';
import { withLease } from '../../application/subscription/index.js';
import { batchEvents } from './batch-events.js';
import { atOnceOf, type Builds, type ReadModel, selectionOf } from './projection.js';

export interface Progress {
  readonly events: number;
  readonly position: Position;
}

export interface CatchUpOptions {
  readonly projection: ReadModel;
  readonly collection: string;
  /** Stops when everything up to here is in the rows and the checkpoint says so. */
  readonly until: Position;
  /** The builder's: without it nothing is written, and a checkpoint of an older one is refused. */
  readonly lease: Pick<Lease, 'name' | 'fence' | 'assertHeld'>;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface CatchUpPorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
}

export const buildLease = (projection: string): string => `build:${projection}`;
/** Of a group of read models. */
export const projectorLease = (group: string): string => `projector:${group}`;

/** For so long after a switch a build is kept that was served before: every node has gone over by then. */
export const RETIRE_AFTER_MS = 20_000;

/** A store that is away is asked again for so long. */
const PATIENCE_MS = 60_000;
const RETRY_MS = { first: 20, most: 2000 };

export const wasStopped = ({ reason }: AbortSignal): UnavailableError =>
  new UnavailableError('the build was stopped', { cause: reason });

/** In this order: a build without a checkpoint is nobody's, should this be broken off. */
export async function dropBuild(
  { builds, checkpoints }: Pick<CatchUpPorts, 'builds' | 'checkpoints'>,
  collection: string,
): Promise<void> {
  await checkpoints.forget(collection);
  await builds.drop(collection);
}

/** Rows and checkpoints that can't be written now are written again: what took long is not given up for a moment. */
async function patiently<Answer>(write: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const until = performance.now() + PATIENCE_MS;
  for (let wait = RETRY_MS.first; ; wait = Math.min(wait * 2, RETRY_MS.most)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UnavailableError) || signal.aborted || performance.now() > until) throw error;
    }
    await sleep(wait, signal);
  }
}

/**
 * Resumes from the collection's checkpoint. Rejects when a newer builder stops it, and with `Unavailable` when
 * the signal does, or where a store does not answer for a minute.
 */
export async function buildUntil(
  { follow, builds, checkpoints }: CatchUpPorts,
  { projection, collection, until, lease, signal, onProgress }: CatchUpOptions,
): Promise<void> {
  const from = (await checkpoints.read(collection)) ?? 'start';
  if (from !== 'start' && from >= until) return;
  const apply = await builds.open(projection, collection, lease);
  let events = 0;
  const reading = { ...selectionOf(projection), from, signal } as const;
  const { atOnce } = atOnceOf([projection]);
  // What is too large for the usual batch is not gathered in larger ones.
  const batches = atOnce ? follow({ ...reading, atOnce }) : batchEvents(follow, reading, until);
  for await (const batch of batches) {
    // No further: a build that this one is compared with may have come no further either.
    const some = batch.events.filter(({ position }) => position <= until);
    await patiently(() => apply(some), signal);
    events += some.length;
    // At the head there may be nothing of this service up to `until`: then the head itself is far enough.
    const isThere = batch.caughtUp || (batch.position ?? 0n) >= until;
    const position = isThere ? until : batch.position;
    if (position === undefined) continue;
    if (!(await patiently(() => checkpoints.advance({ [collection]: position }, lease), signal)))
      throw new Error('another builder took over');
    onProgress?.({ events, position });
    if (position >= until) return;
  }
  throw wasStopped(signal);
}

/**
 * Waits until somebody's build has come to `until`, and finishes it when its builder has died.
 * Rejects when the signal stops it.
 */
export async function awaitBuilt(
  ports: CatchUpPorts & { readonly leases: Leases },
  { projection, collection, until, signal }: Omit<CatchUpOptions, 'lease' | 'onProgress'>,
): Promise<void> {
  while (((await ports.checkpoints.read(collection)) ?? -1n) < until) {
    signal.throwIfAborted();
    const held = await withLease(ports.leases, buildLease(projection.name), signal, (lease, stop) =>
      buildUntil(ports, { projection, collection, until, lease, signal: stop }),
    );
    if (!held) await delay(50, undefined, { signal });
  }
}
