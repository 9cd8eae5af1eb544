/** Rebuilds read models beside the active build, activates them, and verifies them (docs/guide/reading.md). */
import type { AggregateStore, HandleCommand } from '../../application/command/index.js';
import { sleep } from '../../application/concurrency/index.js';
import {
  type CommandContext,
  type Lease,
  type Leases,
  type Position,
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
  dropRetired,
  isResumable,
  type Progress,
  projectorLease,
} from './build.js';
import { collectionName, groupOf, type ReadModel, runOf } from './projection.js';
import { type CheckOptions, type CheckPorts, type Difference, differences } from './verify.js';

export interface RebuildPorts extends CheckPorts {
  readonly leases: Leases;
  readonly aggregates: AggregateStore;
  readonly handle: HandleCommand;
  readonly context: () => CommandContext;
}

export interface BuildOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  readonly onBegun?: () => void;
}

export interface EnsureOptions extends BuildOptions {
  /** Called before a build that is ahead of the log is replaced. */
  readonly onAhead?: (projection: ReadModel) => void;
}

export interface RunningBuild {
  readonly position: Position;
  readonly until: Position;
}

/** Thrown if another process is building this projection. */
export class BuildInProgress extends Error {
  override readonly name = 'BuildInProgress';
}

const POLL_MS = 500;
const SERVED_POLL_MS = 20;

export type Rebuilder = ReturnType<typeof createRebuilder>;

export function createRebuilder(ports: RebuildPorts) {
  const { builds, checkpoints, leases, aggregates, handle, head } = ports;
  const aggregateOf = (projection: ReadModel) => ({
    catalog: { service: serviceOf(projection.name), events: servedEvents },
    decider: servedDecider,
  });

  async function current(projection: ReadModel): Promise<{ state: ServedState; revision: number }> {
    return aggregates.reload(aggregateOf(projection), servedStream(projection.name));
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
  async function ensureActive(projections: readonly ReadModel[], served: Served, options: EnsureOptions) {
    await forgetCheckpointsAhead();
    for (const projection of projections) {
      while (!(await ensureBuilt(projection, options))) {
        await sleep(POLL_MS, options.signal);
        options.signal.throwIfAborted();
      }
      const { state, revision } = await current(projection);
      if (state) served.adopt({ ...state, revision });
    }
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
  async function ensureBuilt(projection: ReadModel, options: EnsureOptions): Promise<boolean> {
    const defect = await defectOf(projection);
    if (defect === 'missing') await activateEmpty(projection);
    else if (defect)
      try {
        await withBuildLease(projection, options.signal, async (lease, stop) => {
          // Another node may have built it before this one acquired the lease.
          const remaining = await defectOf(projection);
          if (remaining === 'ahead') options.onAhead?.(projection);
          if (remaining) await buildAndActivate(projection, lease, stop, options);
        });
      } catch (error) {
        if (error instanceof BuildInProgress) return false;
        throw error;
      }
    return true;
  }

  /**
   * Returns why the active build cannot be served. One ahead of the log, which was restored from a backup, has rows but
   * no checkpoint: it was forgotten. Its rows would skip new events.
   */
  async function defectOf(projection: ReadModel): Promise<'missing' | 'ahead' | 'outdated' | undefined> {
    const { state } = await current(projection);
    if (!state) return 'missing';
    const { collection, version } = state;
    if ((await checkpoints.read(collection)) === undefined && (await builds.count(collection)) > 0) return 'ahead';
    return version === projection.version ? undefined : 'outdated';
  }

  /** Names a collection whose run sorts after the active one, even if clocks differ; earlier runs count as retired. */
  async function newCollection(projection: ReadModel): Promise<string> {
    const { state } = await current(projection);
    return collectionName(projection, ports.newRun(runOf(state?.collection ?? '')));
  }

  async function activateEmpty(projection: ReadModel): Promise<void> {
    const collection = await newCollection(projection);
    await builds.open(projection, collection, { assertHeld() {} });
    await activate(projection, collection);
  }

  /**
   * Rebuilds a projection, resuming an unfinished build, and activates it. Queries use the old build meanwhile. Throws
   * `BuildInProgress` if another process is building it.
   */
  async function rebuild(projection: ReadModel, options: BuildOptions): Promise<string> {
    return withBuildLease(projection, options.signal, (lease, stop) => {
      options.onBegun?.();
      return buildAndActivate(projection, lease, stop, options);
    });
  }

  async function buildAndActivate(
    projection: ReadModel,
    lease: Lease,
    signal: AbortSignal,
    { onProgress }: Pick<BuildOptions, 'onProgress'>,
  ): Promise<string> {
    await dropIfUnused(projection);
    const collection = (await findUnfinished(projection)) ?? (await newCollection(projection));
    let events = 0;
    const buildTo = async (until: Position) => {
      const before = events;
      const reportProgress = (progress: Progress) => {
        events = before + progress.events;
        onProgress?.({ ...progress, events }, until);
      };
      await buildUntil(ports, { projection, collection, until, lease, signal, onProgress: reportProgress });
    };
    await buildTo(await head());
    if (signal.aborted) throw buildStopped(signal);
    lease.assertHeld();
    await buildTo(await activate(projection, collection));
    return collection;
  }

  /** Verifies the active build: rebuilds the projection up to its position, compares the rows and drops the copy. */
  async function check(projection: ReadModel, options: CheckOptions): Promise<readonly Difference[]> {
    return withBuildLease(projection, options.signal, async (lease, signal) => {
      options.onBegun?.();
      const { state } = await current(projection);
      return state ? differences(ports, projection, state.collection, { ...options, lease, signal }) : [];
    });
  }

  /** Drops retired builds while no projector runs, which would drop them once no node reads them. */
  async function dropIfUnused(projection: ReadModel): Promise<void> {
    if (await leases.holder(projectorLease(groupOf(projection)))) return;
    const { state } = await current(projection);
    if (state) await dropRetired(ports, projection.name, state.collection);
  }

  async function withBuildLease<T>(projection: ReadModel, signal: AbortSignal, task: LeaderTask<T>): Promise<T> {
    const run = await withLease(leases, buildLease(projection.name), signal, (lease, stop) =>
      task(lease, stop).catch((cause) => {
        // Transient: the build resumes where it stopped.
        const hasEnded = lease.lost.aborted && !signal.aborted;
        throw hasEnded ? new UnavailableError(`lease ${lease.name} was lost`, { cause }) : cause;
      }),
    );
    if (!run) throw new BuildInProgress(`${projection.name} is being built by another process`);
    return run.result;
  }

  async function findUnfinished(projection: ReadModel): Promise<string | undefined> {
    const { state } = await current(projection);
    // Builds older than the active one are retired, not unfinished.
    const activeRun = runOf(state?.collection ?? '');
    const newer = (await builds.list(collectionName(projection, ''))).filter((name) => runOf(name) > activeRun);
    for (const collection of newer) if (await isResumable(ports, collection)) return collection;
    return undefined;
  }

  async function underWay(projection: ReadModel): Promise<RunningBuild | undefined> {
    if (!(await leases.holder(buildLease(projection.name)))) return undefined;
    const collection = await findUnfinished(projection);
    const position = collection === undefined ? undefined : await checkpoints.read(collection);
    return { position: position ?? 0n, until: await head() };
  }

  return { ensureActive, rebuild, check, current, underWay };
}

/**
 * Returns the rebuilds of one read model, for use cases that do not deal with builds.
 *
 * @param signal Stops a running rebuild with `UnavailableError`; it can be resumed later.
 */
export function rebuildsOf(
  model: ReadModel,
  { lifecycle, served }: { readonly lifecycle: Pick<Rebuilder, 'rebuild' | 'underWay'>; readonly served: Served },
  signal: AbortSignal,
) {
  const stopped = (cause?: unknown) => new UnavailableError('the rebuild was stopped', { cause });
  return {
    /** Rebuilds and activates; resolves with the name of the new build. `onBegun`: the build lease is acquired. */
    rebuild: (onBegun: () => void, onProgress: (events: number, position: Position, until: Position) => void) =>
      lifecycle
        .rebuild(model, {
          signal,
          onBegun,
          onProgress: ({ events, position }, until) => onProgress(events, position, until),
        })
        .catch((error) => {
          throw signal.aborted ? stopped(error) : error;
        }),

    /** Returns the progress of a running build, of any process. */
    underWay: () => lifecycle.underWay(model),

    /** Resolves when the build is active on this node. */
    async serving(build: string) {
      while (served.collection(model.name) !== build && served.known(model.name)) {
        if (signal.aborted) throw stopped();
        await sleep(SERVED_POLL_MS, signal);
      }
    },

    /** Whether an error means that another process is building it. */
    isElsewhere: (error: unknown) => error instanceof BuildInProgress,
  };
}
