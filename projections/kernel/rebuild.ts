/** Rebuilds read models beside the active build, activates them, and verifies them (docs/guide/reading.md). */
import type { AggregateStore, HandleCommand } from '../../application/command/index.js';
import { sleep } from '../../application/concurrency/index.js';
import {
  type Checkpoints,
  type CommandContext,
  type Leases,
  type Position,
  type Subscribe,
  UnavailableError,
} from '../../application/ports/index.js';
import { type LeaderTask, withLease } from '../../application/subscription/index.js';
import {
  isRejection,
  type ServedState,
  activeProjection as servedDecider,
  servedEvents,
  servedStream,
  serviceOf,
} from '../../domain/shared/index.js';
import type { Served } from './active-builds.js';
import {
  buildLease,
  buildStopped,
  buildUntil,
  dropBuild,
  type Progress,
  projectorLease,
  RETIRE_AFTER_MS,
} from './build.js';
import type { Difference } from './diff-rows.js';
import { type Builds, buildsPrefix, collectionName, groupOf, type ReadModel, runOf } from './projection.js';
import { type Share, sharesOf } from './shared-subscription.js';
import { type CheckOptions, differences } from './verify.js';

export interface RebuildPorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  readonly leases: Leases;
  readonly streams: AggregateStore;
  readonly handle: HandleCommand;
  /** Returns the position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** Returns a new unique run id that sorts after the given one. */
  readonly newRun: (after: string) => string;
  readonly context: () => CommandContext;
}

export interface BuildOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  /** Called once the build lease is acquired. */
  readonly onBegun?: () => void;
  /** Called once if the build has to wait until a retired build is dropped, to free disk space. */
  readonly onWaiting?: (() => void) | undefined;
  /** Subscription shared with concurrent builds, up to the current end of the log. */
  readonly share?: Share;
}

/** Progress of a running build: its position and the end of the log. */
export interface RunningBuild {
  readonly position: Position;
  readonly until: Position;
}

/** Thrown if another process is building this projection. */
export class BuildInProgress extends Error {
  override readonly name = 'BuildInProgress';
}

export function createRebuilder(ports: RebuildPorts) {
  const { builds, checkpoints, leases, streams, handle, head } = ports;
  const aggregateOf = (projection: ReadModel) => ({
    catalog: { service: serviceOf(projection.name), events: servedEvents },
    decider: servedDecider,
  });

  async function current(projection: ReadModel): Promise<{ state: ServedState; revision: number }> {
    return streams.reload(aggregateOf(projection), servedStream(projection.name));
  }

  /** Records in the log that a collection is the active build; returns the position of the event. */
  async function activate(projection: ReadModel, collection: string): Promise<Position> {
    const { name, version } = projection;
    const command = { type: 'SwitchProjection' as const, projection: name, version, collection };
    const outcome = await handle(aggregateOf(projection), servedStream(name), command, ports.context());
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    return outcome.position;
  }

  /**
   * Ensures that every projection has an active build of its current version, and loads the active builds. A new
   * projection gets an empty collection, which the projector fills. One with an older version, or ahead of a log
   * restored from a backup, is rebuilt first, here or by another node.
   */
  async function ensureActive(
    projections: readonly ReadModel[],
    served: Served,
    options: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
  ): Promise<void> {
    await forgetCheckpointsAhead();
    const shares = sharesOf(ports.follow, projections);
    const ensureOne = async (projection: ReadModel) => {
      const share = shares.get(projection)!;
      const firstAttempt = ensureBuilt(projection, options, share).finally(share.leave);
      for (let isBuilt = await firstAttempt; !isBuilt; isBuilt = await ensureBuilt(projection, options)) {
        await sleep(POLL_MS, options.signal);
        options.signal.throwIfAborted();
      }
      const { state, revision } = await current(projection);
      if (state) served.adopt({ ...state, revision });
    };
    await Promise.all(projections.map(ensureOne));
  }

  /**
   * Deletes all checkpoints ahead of the log, which was restored from a backup then. Includes services that do not run
   * here: once the log has grown past a checkpoint, it would look valid.
   */
  async function forgetCheckpointsAhead(): Promise<void> {
    const all = await checkpoints.all();
    // Reads the head after the checkpoints, because both may advance in between.
    const last = await head();
    for (const [name, position] of all) if (position > last) await checkpoints.forget(name);
  }

  /** Builds what readers require; false while another process builds it. */
  async function ensureBuilt(
    projection: ReadModel,
    { signal, onProgress, onAhead }: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
    share?: Share,
  ): Promise<boolean> {
    const { state } = await current(projection);
    const isAhead = state && (await isOfAnotherLog(state.collection));
    const onBegun = () => isAhead && onAhead?.(projection);
    const buildOptions = { signal, onBegun, ...(onProgress && { onProgress }), ...(share && { share }) };
    try {
      if (!state) await activateEmpty(projection);
      else if (isAhead || state.version !== projection.version) await rebuild(projection, buildOptions);
      return true;
    } catch (error) {
      if (error instanceof BuildInProgress) return false;
      throw error;
    }
  }

  /** Names a collection whose run sorts after the active one, even if clocks differ; earlier runs count as retired. */
  async function newCollection(projection: ReadModel): Promise<string> {
    const { state } = await current(projection);
    return collectionName(projection, ports.newRun(runOf(state?.collection ?? '')));
  }

  /** Activates an empty build, because readers need an existing collection. */
  async function activateEmpty(projection: ReadModel): Promise<void> {
    const collection = await newCollection(projection);
    await builds.open(projection, collection, { assertHeld() {} });
    await activate(projection, collection);
  }

  /**
   * Rebuilds a projection, resuming an unfinished build, and activates it. Queries use the old build meanwhile. Throws
   * `BuildInProgress` if another process is building it.
   */
  async function rebuild(
    projection: ReadModel,
    { signal, onProgress, onBegun, onWaiting, share }: BuildOptions,
  ): Promise<string> {
    return withBuildLease(projection, { signal, share }, async (lease, stop) => {
      onBegun?.();
      await awaitRetired(projection, stop, onWaiting);
      const collection = (await findUnfinished(projection)) ?? (await newCollection(projection));
      let events = 0;
      const buildTo = async (until: Position, follow = ports.follow) => {
        const before = events;
        const reportProgress = (progress: Progress) => {
          events = before + progress.events;
          onProgress?.({ ...progress, events }, until);
        };
        const options = { projection, collection, until, lease, signal: stop, onProgress: reportProgress };
        await buildUntil({ ...ports, follow }, options);
      };
      await buildTo(await head(), share?.follow);
      share?.leave();
      // A stopped build is resumed later.
      if (stop.aborted) throw buildStopped(stop);
      lease.assertHeld();
      await buildTo(await activate(projection, collection));
      return collection;
    });
  }

  /** Verifies the active build: rebuilds the projection up to its position, compares the rows and drops the copy. */
  async function check(projection: ReadModel, options: CheckOptions): Promise<readonly Difference[]> {
    return withBuildLease(projection, options, async (lease, signal) => {
      const { state } = await current(projection);
      return state ? differences(ports, projection, state.collection, { ...options, lease, signal }) : [];
    });
  }

  /**
   * Waits until retired builds are dropped, except for small ones, so that a store holds two builds at most. The
   * projector drops them; without a running projector nothing reads them, and they are dropped here.
   */
  async function awaitRetired(projection: ReadModel, stop: AbortSignal, onWaiting?: () => void): Promise<void> {
    const { state } = await current(projection);
    if (!state) return;
    for (let waitedMs = 0; waitedMs <= 2 * RETIRE_AFTER_MS; waitedMs += POLL_MS) {
      const all = await builds.list(buildsPrefix(projection));
      const retired = all.filter((name) => runOf(name) < runOf(state.collection));
      if (retired.length === 0) return;
      if (await leases.holder(projectorLease(groupOf(projection)))) {
        // A build dropped during the measurement is missing from the next list.
        if (await areSmall(retired).catch(() => false)) return;
        if (waitedMs === 0) onWaiting?.();
        await sleep(POLL_MS, stop);
      } else for (const name of retired) await dropBuild(ports, name);
      stop.throwIfAborted();
    }
  }

  async function areSmall(collections: readonly string[]): Promise<boolean> {
    let remaining = SMALL_BYTES;
    for (const each of collections) if (remaining > 0) remaining -= await builds.bytes(each, remaining);
    return remaining > 0;
  }

  async function withBuildLease<T>(
    projection: ReadModel,
    { signal, share }: { readonly signal: AbortSignal; readonly share?: Share | undefined },
    task: LeaderTask<T>,
  ): Promise<T> {
    try {
      const run = await withLease(leases, buildLease(projection.name), signal, (lease, stop) =>
        task(lease, stop).catch((cause) => {
          // Transient: the build resumes where it stopped.
          const isLost = lease.lost.aborted && !signal.aborted;
          throw isLost ? new UnavailableError(`lease ${lease.name} was lost`, { cause }) : cause;
        }),
      );
      if (!run) throw new BuildInProgress(`${projection.name} is being built by another process`);
      return run.result;
    } finally {
      // Other builds must not wait for this one.
      share?.leave();
    }
  }

  async function findUnfinished(projection: ReadModel): Promise<string | undefined> {
    const { state } = await current(projection);
    // Builds older than the active one are retired, not unfinished.
    const activeRun = runOf(state?.collection ?? '');
    const newer = (await builds.list(collectionName(projection, ''))).filter((name) => runOf(name) > activeRun);
    for (const collection of newer) {
      const position = await positionOf(collection);
      if (position && position !== 'ahead') return collection;
    }
    return undefined;
  }

  /**
   * Returns the position of a build by its checkpoint. A build ahead of the log contains events that the log lacks, and
   * would skip new ones.
   */
  async function positionOf(collection: string): Promise<Position | 'ahead' | undefined> {
    const position = await checkpoints.read(collection);
    // Reads the head after the checkpoint, because both may advance in between.
    return position !== undefined && position > (await head()) ? 'ahead' : position;
  }

  /**
   * Whether a build contains events that the log lacks, because it was restored from a backup. A build with rows but
   * without a checkpoint may: it was retired after the backup, and its rows would skip new events.
   */
  async function isOfAnotherLog(collection: string): Promise<boolean> {
    const position = await positionOf(collection);
    return position === 'ahead' || (position === undefined && (await builds.count(collection)) > 0);
  }

  /** Returns the progress of a running build, of any process. */
  async function underWay(projection: ReadModel): Promise<RunningBuild | undefined> {
    if (!(await leases.holder(buildLease(projection.name)))) return undefined;
    const collection = await findUnfinished(projection);
    const position = collection === undefined ? undefined : await checkpoints.read(collection);
    return { position: position ?? 0n, until: await head() };
  }

  /** Returns shared subscriptions for concurrent builds. */
  const shares = (projections: readonly ReadModel[]) => sharesOf(ports.follow, projections);

  return { ensureActive, rebuild, check, current, underWay, shares };
}

/** Milliseconds between checks for a build by another node. */
const POLL_MS = 500;

/** Total size of retired builds that is not worth waiting for. */
const SMALL_BYTES = 1024 * 1024;
