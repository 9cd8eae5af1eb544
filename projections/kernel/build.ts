/** Builds a read model from the log into a new collection, beside the active one. */
import { setTimeout as delay } from 'node:timers/promises';
import { estimateBytes, readAhead, sleep } from '../../application/concurrency/index.js';
import {
  type Batch,
  type Checkpoints,
  type Lease,
  type Leases,
  type Position,
  type RecordedEvent,
  type Subscribe,
  UnavailableError,
} from '../../application/ports/index.js';
import { withLease } from '../../application/subscription/index.js';
import { type Builds, batching, buildsPrefix, type ReadModel, runOf, selectionOf } from './projection.js';

export interface Progress {
  readonly events: number;
  readonly position: Position;
}

export interface BuildUntilOptions {
  readonly projection: ReadModel;
  readonly collection: string;
  /** Ends once the rows include everything up to here and the checkpoint is saved. */
  readonly until: Position;
  /** Build lease: required for writes; its fencing token protects the checkpoint. */
  readonly lease: Pick<Lease, 'name' | 'fence' | 'assertHeld'>;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface BuildPorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
}

/** Name of the lease for building a projection. */
export const buildLease = (projection: string): string => `build:${projection}`;
/** Name of the lease for updating a group of read models. */
export const projectorLease = (group: string): string => `projector:${group}`;

/** Milliseconds a retired build is retained, until every node has switched. */
export const RETIRE_AFTER_MS = 20_000;

/** Milliseconds of retries while a store is unavailable. */
const RETRY_FOR_MS = 60_000;
const RETRY_MS = { first: 20, max: 2000 };

export const buildStopped = ({ reason }: AbortSignal): UnavailableError =>
  new UnavailableError('the build was stopped', { cause: reason });

/** Drops a build, its checkpoint first: if interrupted, a build without a checkpoint is removed later. */
export async function dropBuild(
  { builds, checkpoints }: Pick<BuildPorts, 'builds' | 'checkpoints'>,
  collection: string,
): Promise<void> {
  await checkpoints.forget(collection);
  await builds.drop(collection);
}

/** Whether a build has a checkpoint, and it is not ahead of a log restored from a backup. */
export async function isResumable(
  { checkpoints, head }: { readonly checkpoints: Checkpoints; readonly head: () => Promise<Position> },
  collection: string,
): Promise<boolean> {
  const position = await checkpoints.read(collection);
  // Reads the head after the checkpoint, because both may advance in between.
  return position !== undefined && position <= (await head());
}

interface RetirementPorts extends Pick<BuildPorts, 'builds' | 'checkpoints'> {
  readonly leases: Leases;
  readonly head: () => Promise<Position>;
}

/**
 * Drops builds older than the active one, also during a rebuild, which may wait for it. Without a running rebuild, also
 * drops newer builds that cannot be resumed: without a checkpoint, or ahead of a log restored from a backup. Returns
 * what it has dropped.
 */
export async function dropRetired(ports: RetirementPorts, projection: string, active = ''): Promise<readonly string[]> {
  const all = await ports.builds.list(buildsPrefix({ name: projection }));
  // Read after the list, which may contain a build that has just started.
  const isRebuilding = (await ports.leases.holder(buildLease(projection))) !== undefined;
  const dropped: string[] = [];
  for (const collection of all) {
    if (collection === active) continue;
    const isNewer = runOf(collection) > runOf(active);
    if (isNewer && (isRebuilding || (await isResumable(ports, collection)))) continue;
    await dropBuild(ports, collection);
    dropped.push(collection);
  }
  return dropped;
}

/** Retries a write while the store is unavailable, so that a short outage does not end a long build. */
async function withRetries<Answer>(write: () => Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const deadline = performance.now() + RETRY_FOR_MS;
  for (let backoff = RETRY_MS.first; ; backoff = Math.min(backoff * 2, RETRY_MS.max)) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof UnavailableError) || signal.aborted || performance.now() > deadline) throw error;
    }
    await sleep(backoff, signal);
  }
}

/**
 * Builds up to a position, resuming from the collection's checkpoint. Throws if another builder takes over, and
 * `UnavailableError` if the signal stops it or a store is unavailable for a minute.
 */
export async function buildUntil(
  { follow, builds, checkpoints }: BuildPorts,
  { projection, collection, until, lease, signal, onProgress }: BuildUntilOptions,
): Promise<void> {
  const from = (await checkpoints.read(collection)) ?? 'start';
  if (from !== 'start' && from >= until) return;
  const apply = await builds.open(projection, collection, lease, { isRead: false });
  let events = 0;
  const { batchSize } = batching([projection]);
  const open = (stop: AbortSignal) => {
    const selection = { ...selectionOf(projection), from, signal: stop } as const;
    // Read models that need small batches get no larger ones.
    return batchSize ? follow({ ...selection, batchSize }) : batchEvents(follow, selection, until);
  };
  // Reads a batch while the one before is written: they wait for different stores.
  for await (const batch of readAhead(signal, open)) {
    // Not beyond `until`: a verified build may have come no further.
    const relevant = batch.events.filter(({ position }) => position <= until);
    await withRetries(() => apply(relevant), signal);
    events += relevant.length;
    // At the head of the log there are no more events up to `until`.
    const isComplete = batch.caughtUp || (batch.position ?? 0n) >= until;
    const position = isComplete ? until : batch.position;
    if (position === undefined) continue;
    if (!(await withRetries(() => checkpoints.advance({ [collection]: position }, lease), signal)))
      throw new Error('another builder took over');
    onProgress?.({ events, position });
    if (position >= until) return;
  }
  throw buildStopped(signal);
}

/** Limits of a batch; the first one reached ends it. */
export interface BatchLimits {
  readonly events: number;
  /** Estimated size of the event data in memory. */
  readonly bytes: number;
  /** Duration, so that progress is reported regularly. */
  readonly ms: number;
}

const LIMITS: BatchLimits = { events: 8000, bytes: 8 * 1024 * 1024, ms: 1000 };

/**
 * Subscribes with larger batches up to `until`, because writes to one row are coalesced per batch; later batches are
 * passed on unchanged.
 */
export async function* batchEvents(
  follow: Subscribe,
  options: Parameters<Subscribe>[0],
  until: Position,
  limits = LIMITS,
): AsyncGenerator<Batch> {
  let events: RecordedEvent[] = [];
  let bytes = 0;
  let startedAt = performance.now();
  let scanned: Position | undefined;
  for await (const { events: more, position = scanned, caughtUp } of follow(options)) {
    scanned = position;
    events.push(...more);
    for (const { data } of more) bytes += estimateBytes(data);
    const isFull =
      events.length >= limits.events || bytes >= limits.bytes || performance.now() - startedAt >= limits.ms;
    if (!isFull && !caughtUp && (position ?? -1n) < until) continue;
    yield { events, ...(position !== undefined && { position }), caughtUp };
    [events, bytes, scanned, startedAt] = [[], 0, undefined, performance.now()];
  }
}

/** Waits until a build has reached `until`; finishes it if its builder has died. Throws if the signal stops it. */
export async function awaitBuilt(
  ports: BuildPorts & { readonly leases: Leases },
  { projection, collection, until, signal }: Omit<BuildUntilOptions, 'lease' | 'onProgress'>,
): Promise<void> {
  while (((await ports.checkpoints.read(collection)) ?? -1n) < until) {
    signal.throwIfAborted();
    const run = await withLease(ports.leases, buildLease(projection.name), signal, (lease, stop) =>
      buildUntil(ports, { projection, collection, until, lease, signal: stop }),
    );
    if (!run) await delay(50, undefined, { signal });
  }
}
