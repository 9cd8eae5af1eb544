/** Build, switch, check: how a read model is rebuilt beside the served one, in log order (docs/guide/reading.md). */
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
  buildUntil,
  dropBuild,
  type Progress,
  projectorLease,
  RETIRE_AFTER_MS,
  wasStopped,
} from './build.js';
import type { Difference } from './diff-rows.js';
import { type Builds, buildsPrefix, collectionName, groupOf, type ReadModel, runOf } from './projection.js';
import { type Share, sharesOf } from './shared-subscription.js';
import { type CheckOptions, differences } from './verify.js';

export interface LifecyclePorts {
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  readonly leases: Leases;
  readonly streams: AggregateStore;
  readonly handle: HandleCommand;
  /** The position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** The run of a new build: one that none ever had, sorted behind this one. */
  readonly newRun: (after: string) => string;
  readonly context: () => CommandContext;
}

export interface BuildOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress, head: Position) => void;
  /** Told once nobody else can build at the same time. */
  readonly onBegun?: () => void;
  /** Told once where it waits for room: for a build that was served until lately, and is soon dropped. */
  readonly onWaiting?: (() => void) | undefined;
  /** Where others are built at once: what the log has by then is read together with them. */
  readonly share?: Share;
}

/** How far a build is, and how far the log is. */
export interface UnderWay {
  readonly position: Position;
  readonly until: Position;
}

/** Another process is building this projection. */
export class BuildInProgress extends Error {
  override readonly name = 'BuildInProgress';
}

export function createRebuilder(ports: LifecyclePorts) {
  const { builds, checkpoints, leases, streams, handle, head } = ports;
  const kindOf = (projection: ReadModel) => ({
    catalog: { service: serviceOf(projection.name), events: servedEvents },
    decider: servedDecider,
  });

  async function current(projection: ReadModel): Promise<{ state: ServedState; revision: number }> {
    return streams.reload(kindOf(projection), servedStream(projection.name));
  }

  /** Makes the log say that a collection is served; answers the position of that fact. */
  async function activate(projection: ReadModel, collection: string): Promise<Position> {
    const { name, version } = projection;
    const command = { type: 'SwitchProjection' as const, projection: name, version, collection };
    const outcome = await handle(kindOf(projection), servedStream(name), command, ports.context());
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    return outcome.position;
  }

  /**
   * Learns what is served. A projection that never was gets an empty collection, filled by the projector; one of
   * an older version, or of a log that has been restored from a backup since, is rebuilt first, here or by the node
   * that is at it already. Resolves when every projection has a build of its present version.
   */
  async function ensureActive(
    projections: readonly ReadModel[],
    served: Served,
    options: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
  ): Promise<void> {
    await forgetAhead();
    const shares = sharesOf(ports.follow, projections);
    const openOne = async (projection: ReadModel) => {
      const share = shares.get(projection)!;
      const first = ensureBuilt(projection, options, share).finally(share.leave);
      for (let isDone = await first; !isDone; isDone = await ensureBuilt(projection, options)) {
        await sleep(ELSEWHERE_MS, options.signal);
        options.signal.throwIfAborted();
      }
      const { state, revision } = await current(projection);
      if (state) served.adopt({ ...state, revision });
    };
    await Promise.all(projections.map(openOne));
  }

  /**
   * Forgets how far everything is that is ahead of a log that was restored from a backup: also what is of services
   * that are not opened here, for once the log has grown past it nobody could tell any more.
   */
  async function forgetAhead(): Promise<void> {
    const all = await checkpoints.all();
    // In this order: the log may grow in between, and with it what is known of it.
    const last = await head();
    for (const [name, position] of all) if (position > last) await checkpoints.forget(name);
  }

  /** Makes what there must be before anybody reads; false while another process is at it. */
  async function ensureBuilt(
    projection: ReadModel,
    { signal, onProgress, onAhead }: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
    share?: Share,
  ): Promise<boolean> {
    const { state } = await current(projection);
    const isOfBefore = state && (await isOfAnotherLog(state.collection));
    const onBegun = () => isOfBefore && onAhead?.(projection);
    const building = { signal, onBegun, ...(onProgress && { onProgress }), ...(share && { share }) };
    try {
      if (!state) await serveEmpty(projection);
      else if (isOfBefore || state.version !== projection.version) await rebuild(projection, building);
      return true;
    } catch (error) {
      if (error instanceof BuildInProgress) return false;
      throw error;
    }
  }

  /** Of a run later than that of what is served, whatever clocks say: what is earlier was served before, and goes. */
  async function newCollection(projection: ReadModel): Promise<string> {
    const { state } = await current(projection);
    return collectionName(projection, ports.newRun(runOf(state?.collection ?? '')));
  }

  /** Readers must find what is served, be there anything in it or not. */
  async function serveEmpty(projection: ReadModel): Promise<void> {
    const collection = await newCollection(projection);
    await builds.open(projection, collection, { assertHeld() {} });
    await activate(projection, collection);
  }

  /**
   * Builds the projection anew (or goes on with a build that was stopped) and switches to it. The served one
   * answers all queries meanwhile. Rejects with `BuildInProgress` when another process is at it.
   */
  async function rebuild(
    projection: ReadModel,
    { signal, onProgress, onBegun, onWaiting, share }: BuildOptions,
  ): Promise<string> {
    return asBuilder(projection, { signal, share }, async (lease, stop) => {
      onBegun?.();
      await retired(projection, stop, onWaiting);
      const collection = (await unfinished(projection)) ?? (await newCollection(projection));
      let events = 0;
      const to = async (until: Position, follow = ports.follow) => {
        const before = events;
        const progress = (at: Progress) => {
          events = before + at.events;
          onProgress?.({ ...at, events }, until);
        };
        const building = { projection, collection, until, lease, signal: stop, onProgress: progress };
        await buildUntil({ ...ports, follow }, building);
      };
      await to(await head(), share?.follow);
      share?.leave();
      // Who was stopped meanwhile has something to go on with.
      if (stop.aborted) throw wasStopped(stop);
      lease.assertHeld();
      await to(await activate(projection, collection));
      return collection;
    });
  }

  /** Builds the projection anew as far as the served rows have come, compares it with them, and throws it away. */
  async function check(projection: ReadModel, options: CheckOptions): Promise<readonly Difference[]> {
    return asBuilder(projection, options, async (lease, signal) => {
      const { state } = await current(projection);
      return state ? differences(ports, projection, state.collection, { ...options, lease, signal }) : [];
    });
  }

  /**
   * Resolves when no build is left of those that were served before the present one, but for small ones, so that a
   * store holds two at most. The projector drops them; where no node runs nobody reads them, and they are dropped here.
   */
  async function retired(projection: ReadModel, stop: AbortSignal, onWaiting?: () => void): Promise<void> {
    const { state } = await current(projection);
    if (!state) return;
    for (let waited = 0; waited <= 2 * RETIRE_AFTER_MS; waited += ELSEWHERE_MS) {
      const found = await builds.list(buildsPrefix(projection));
      const left = found.filter((name) => runOf(name) < runOf(state.collection));
      if (left.length === 0) return;
      if (await leases.holder(projectorLease(groupOf(projection)))) {
        // One that is dropped while it is measured is gone at the next look.
        if (await areSmall(left).catch(() => false)) return;
        if (waited === 0) onWaiting?.();
        await sleep(ELSEWHERE_MS, stop);
      } else for (const name of left) await dropBuild(ports, name);
      stop.throwIfAborted();
    }
  }

  async function areSmall(collections: readonly string[]): Promise<boolean> {
    let room = SMALL_BYTES;
    for (const each of collections) if (room > 0) room -= await builds.bytes(each, room);
    return room > 0;
  }

  async function asBuilder<T>(
    projection: ReadModel,
    { signal, share }: { readonly signal: AbortSignal; readonly share?: Share | undefined },
    work: LeaderTask<T>,
  ): Promise<T> {
    try {
      const held = await withLease(leases, buildLease(projection.name), signal, (lease, stop) =>
        work(lease, stop).catch((cause) => {
          // It goes on where it is: nothing has failed that will not come right.
          const isLost = lease.lost.aborted && !signal.aborted;
          throw isLost ? new UnavailableError(`the lease ${lease.name} is lost`, { cause }) : cause;
        }),
      );
      if (!held) throw new BuildInProgress(`${projection.name} is being built by another process`);
      return held.result;
    } finally {
      // However it ended: nobody is to wait for it.
      share?.leave();
    }
  }

  async function unfinished(projection: ReadModel): Promise<string | undefined> {
    const { state } = await current(projection);
    // What was begun before the served build has been served before it.
    const served = runOf(state?.collection ?? '');
    const begun = (await builds.list(collectionName(projection, ''))).filter((name) => runOf(name) > served);
    for (const collection of begun) {
      const position = await positionOf(collection);
      if (position && position !== 'ahead') return collection;
    }
    return undefined;
  }

  /**
   * How far a build is by its checkpoint. One that is ahead of the log holds what the log knows nothing of, and
   * would take what is appended from now on for done.
   */
  async function positionOf(collection: string): Promise<Position | 'ahead' | undefined> {
    const position = await checkpoints.read(collection);
    // In this order: the log may grow in between, and the build with it.
    return position !== undefined && position > (await head()) ? 'ahead' : position;
  }

  /**
   * Whether a build holds what the log, restored from a backup, knows nothing of. One without a checkpoint that has
   * rows may: it was served until another one was, and its rows take what comes now for done.
   */
  async function isOfAnotherLog(collection: string): Promise<boolean> {
    const position = await positionOf(collection);
    return position === 'ahead' || (position === undefined && (await builds.count(collection)) > 0);
  }

  /** The build that some process is making now, by what every process can see of it. */
  async function underWay(projection: ReadModel): Promise<UnderWay | undefined> {
    if (!(await leases.holder(buildLease(projection.name)))) return undefined;
    const collection = await unfinished(projection);
    const position = collection === undefined ? undefined : await checkpoints.read(collection);
    return { position: position ?? 0n, until: await head() };
  }

  /** For those of these that are built at once. */
  const shares = (projections: readonly ReadModel[]) => sharesOf(ports.follow, projections);

  return { ensureActive, rebuild, check, current, underWay, shares };
}

/** How soon a node looks again whether another one has made what it needs. */
const ELSEWHERE_MS = 500;

/** So little, of all builds that nobody serves any more, is no room worth waiting for. */
const SMALL_BYTES = 1024 * 1024;
