/** Build, switch, check: how a read model is rebuilt beside the served one, in log order (docs/reading.md). */
import type { Handle } from '../application/command/handle.js';
import type { Streams } from '../application/command/streams.js';
import { type Lead, whileHeld } from '../application/follow/leading.js';
import { pause } from '../application/pause.js';
import type { Checkpoints, CommandContext, Follow, Leases, Position } from '../application/ports.js';
import { isRejection } from '../domain/shared/decider.js';
import {
  type ServedState,
  served as servedDecider,
  servedEvents,
  servedStream,
} from '../domain/shared/served.js';
import { buildLease, catchUp, discard, type Progress, projectorLease, RETIRE_AFTER_MS } from './catch-up.js';
import { compare, type Difference } from './compare.js';
import {
  type Builds,
  buildsPrefix,
  collectionName,
  groupOf,
  type ReadModel,
  runOf,
  serviceOf,
} from './projection.js';
import type { Served } from './served.js';

export interface LifecyclePorts {
  readonly follow: Follow;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  readonly leases: Leases;
  readonly streams: Streams;
  readonly handle: Handle;
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
}

export interface CheckOptions extends Omit<BuildOptions, 'onBegun'> {
  /** Waits before each comparison, ms: what has caught up by then was no difference. */
  readonly lookAgainMs?: readonly number[];
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

export function createLifecycle(ports: LifecyclePorts) {
  const { builds, checkpoints, leases, streams, handle, head } = ports;
  const kindOf = (projection: ReadModel) => ({
    catalog: { service: serviceOf(projection), events: servedEvents },
    decider: servedDecider,
  });

  async function current(projection: ReadModel): Promise<{ state: ServedState; revision: number }> {
    return streams.refresh(kindOf(projection), servedStream(projection.name));
  }

  /** Makes the log say that a collection is served; answers the position of that fact. */
  async function switchTo(projection: ReadModel, collection: string): Promise<Position> {
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
  async function open(
    projections: readonly ReadModel[],
    served: Served,
    options: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
  ): Promise<void> {
    await forgetAhead();
    const openOne = async (projection: ReadModel) => {
      while (!(await isMade(projection, options))) {
        await pause(ELSEWHERE_MS, options.signal);
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
  async function isMade(
    projection: ReadModel,
    { signal, onProgress, onAhead }: BuildOptions & { readonly onAhead?: (projection: ReadModel) => void },
  ): Promise<boolean> {
    const { state } = await current(projection);
    const isOfBefore = state && (await isOfAnotherLog(state.collection));
    const onBegun = () => isOfBefore && onAhead?.(projection);
    const building = { signal, onBegun, ...(onProgress && { onProgress }) };
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
    await switchTo(projection, collection);
  }

  /**
   * Builds the projection anew (or goes on with a build that was stopped) and switches to it. The served one
   * answers all queries meanwhile. Rejects with `BuildInProgress` when another process is at it.
   */
  async function rebuild(
    projection: ReadModel,
    { signal, onProgress, onBegun }: BuildOptions,
  ): Promise<string> {
    return asBuilder(projection, signal, async (lease, stop) => {
      onBegun?.();
      await retired(projection, stop);
      const collection = (await unfinished(projection)) ?? (await newCollection(projection));
      let events = 0;
      const to = async (until: Position) => {
        const before = events;
        const progress = (at: Progress) => {
          events = before + at.events;
          onProgress?.({ ...at, events }, until);
        };
        await catchUp(ports, { projection, collection, until, lease, signal: stop, onProgress: progress });
      };
      await to(await head());
      lease.assertHeld();
      await to(await switchTo(projection, collection));
      return collection;
    });
  }

  /** How far a build shows the log: to its end, or less where nobody keeps it up, or not quickly enough. */
  async function shown(collection: string): Promise<Position> {
    const [last, kept] = [await head(), await checkpoints.read(collection)];
    return kept !== undefined && kept < last ? kept : last;
  }

  /** Builds the projection anew as far as the served rows have come, compares it with them, and throws it away. */
  async function check(
    projection: ReadModel,
    { signal, onProgress, lookAgainMs = LOOK_AGAIN_MS }: CheckOptions,
  ): Promise<readonly Difference[]> {
    return asBuilder(projection, signal, async (lease, stop) => {
      const { state } = await current(projection);
      if (!state) return [];
      const collection = `${checkPrefix(projection)}${ports.newRun('')}`;
      try {
        for (const left of await builds.list(checkPrefix(projection))) await builds.drop(left);
        let differences: readonly Difference[] | undefined;
        // The served rows move on while they are compared, and may be behind: what differs is looked at again later.
        for (const wait of lookAgainMs) {
          if (differences?.length === 0) break;
          await pause(wait, stop);
          const until = await shown(state.collection);
          const progress = (at: Progress) => onProgress?.(at, until);
          await catchUp(ports, { projection, collection, until, lease, signal: stop, onProgress: progress });
          const found = await compare(
            builds.scan(projection, state.collection),
            builds.scan(projection, collection),
            until,
            head,
          );
          const before = differences && new Set(differences.map(({ id }) => id));
          differences = before ? found.filter(({ id }) => before.has(id)) : found;
        }
        return differences ?? [];
      } finally {
        await discard(ports, collection);
      }
    });
  }

  /**
   * Resolves when no build is left of those that were served before the present one, but for small ones, so that a
   * store holds two at most. The projector drops them; where no node runs nobody reads them, and they are dropped here.
   */
  async function retired(projection: ReadModel, stop: AbortSignal): Promise<void> {
    const { state } = await current(projection);
    if (!state) return;
    for (let waited = 0; waited <= 2 * RETIRE_AFTER_MS; waited += ELSEWHERE_MS) {
      const found = await builds.list(buildsPrefix(projection));
      const left = found.filter((name) => runOf(name) < runOf(state.collection));
      if (left.length === 0) return;
      if (await leases.holder(projectorLease(groupOf(projection)))) {
        const counts = await Promise.all(left.map(builds.count));
        if (counts.reduce((sum, count) => sum + count) < FEW_ROWS) return;
        await pause(ELSEWHERE_MS, stop);
      } else for (const name of left) await discard(ports, name);
      stop.throwIfAborted();
    }
  }

  async function asBuilder<T>(projection: ReadModel, signal: AbortSignal, work: Lead<T>): Promise<T> {
    const held = await whileHeld(leases, buildLease(projection.name), signal, work);
    if (!held) throw new BuildInProgress(`${projection.name} is being built by another process`);
    return held.result;
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

  return { open, rebuild, check, current, underWay };
}

/** How soon a node looks again whether another one has made what it needs. */
const ELSEWHERE_MS = 500;

/** So few take no room worth waiting for. */
const FEW_ROWS = 1000;

const LOOK_AGAIN_MS = [0, 100, 500, 2000, 5000];

const checkPrefix = ({ name }: ReadModel) => `${name.replaceAll('.', '_')}_check_`;
