/** The loop that keeps a group of read models up with the log: one node of all runs it, held by a lease. */
import { isEvent } from '../../application/command/index.js';
import { sleep } from '../../application/concurrency/index.js';
import type {
  Batch,
  Checkpoints,
  Lease,
  Leases,
  Logger,
  Position,
  RecordedEvent,
  Subscribe,
} from '../../application/ports/index.js';
import { runAsLeader } from '../../application/subscription/index.js';
import type { ProjectionSwitched } from '../../domain/shared/index.js';
import type { Served } from './active-builds.js';
import { awaitBuilt, buildLease, dropBuild, projectorLease, RETIRE_AFTER_MS } from './build.js';
import { createCheckpointWriter } from './checkpoint-writer.js';
import {
  type Apply,
  atOnceOf,
  type Builds,
  buildsPrefix,
  gatherMsOf,
  type ProjectorGroup,
  type ReadModel,
  runOf,
} from './projection.js';

export interface ProjectorOptions {
  readonly group: ProjectorGroup;
  readonly follow: Subscribe;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  readonly leases: Leases;
  readonly served: Served;
  /** The position of the last event of the log. */
  readonly head: () => Promise<Position>;
  /** Told as soon as the rows of a projection show everything up to a position. */
  readonly advanced: (projection: string, position: Position) => void;
  /** Resolves after so many ms, or at once when somebody waits for the rows of one of these. */
  readonly debounceUntilAwaited: (projections: readonly string[], ms: number) => Promise<void>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export type ProjectorStatus = 'standby' | 'catching-up' | 'live' | 'failing';

export interface Projector {
  status(): { readonly status: ProjectorStatus; readonly position: Position; readonly lagMs: number };
  /** Settles when the signal has stopped the loop and its lease is released. */
  readonly stopped: Promise<void>;
}

/** One write for all that comes within this time: a write a message would cost more than the message. */
const GATHER_MS = 20;
const STANDBY_MS = 500;
const BACKOFF_MS = { first: 100, most: 5000 };

type Switch = RecordedEvent<ProjectionSwitched>;

interface Target {
  readonly projection: ReadModel;
  collection: string;
  /** Of the switch to this build: those up to it are history. */
  revision: number;
  apply: Apply;
  position: Position;
  readonly lease: Lease;
  /** Told when there is something to save. */
  moved(): void;
}

export function runProjector(options: ProjectorOptions): Projector {
  const {
    group: { name: group, service, projections },
    follow,
    builds,
    checkpoints,
    leases,
    served,
    head,
    advanced,
    debounceUntilAwaited,
    logger,
    signal,
  } = options;
  const names = projections.map(({ name }) => name);
  let status: ProjectorStatus = 'standby';
  let position: Position = 0n;
  let lastEventAt = Date.now();

  async function lead(lease: Lease, held: AbortSignal) {
    const fenced = new AbortController();
    const stop = AbortSignal.any([held, fenced.signal]);
    const targets = await Promise.all(projections.map((each) => target(each, lease)));
    await removeRetired();
    // At the first look a build whose builder has died may still be held.
    removeRetiredLater(stop);
    status = 'catching-up';
    const [from = 0n] = targets.map((each) => each.position).sort((a, b) => (a < b ? -1 : 1));
    const saver = createCheckpointWriter(targets, {
      advance: (positions) => checkpoints.advance(positions, lease),
      refused: () => fenced.abort(),
      failed: (err) => logger.warn({ err, group }, 'checkpoint not saved, trying again'),
    });
    try {
      const prefixes = [`${service}.`];
      // What the checkpoints say is there: nobody need wait for the next event to know.
      for (const each of targets) if (each.position > 0n) advanced(each.projection.name, each.position);
      const gatherMs = gatherMsOf(projections, GATHER_MS);
      const start = from === 0n ? 'start' : from;
      for await (const batch of follow({ prefixes, from: start, signal: stop, ...atOnceOf(projections) })) {
        await apply(batch, targets, stop);
        if (batch.caughtUp) status = 'live';
        if (batch.position === undefined) continue;
        position = batch.position;
        if (status === 'live') await debounceUntilAwaited(names, gatherMs);
      }
    } finally {
      await saver.end();
    }
  }

  async function target(projection: ReadModel, lease: Lease): Promise<Target> {
    const known = served.known(projection.name);
    if (!known) throw new Error(`nothing is served of ${projection.name}`);
    const { collection, revision } = known;
    const apply = await builds.open(projection, collection, lease);
    const position = (await checkpoints.read(collection)) ?? 0n;
    return { projection, collection, revision, apply, lease, position, moved() {} };
  }

  /** An event that fails is tried again for ever, loudly: skipping it would make the rows differ from the log. */
  async function apply(batch: Batch, targets: readonly Target[], stop: AbortSignal) {
    // That the head was reached may be said only once.
    const before = status;
    for (let wait = BACKOFF_MS.first; ; wait = Math.min(wait * 2, BACKOFF_MS.most)) {
      try {
        await applyOnce(batch.events, targets, stop);
        for (const each of targets) cameTo(each, batch.position ?? 0n);
        status = before;
        lastEventAt = batch.events.at(-1)?.recordedAt ?? lastEventAt;
        return;
      } catch (error) {
        stop.throwIfAborted();
        status = 'failing';
        logger.error({ err: error, group, after: String(position), retryMs: wait }, 'projecting failed');
        await sleep(wait, stop);
      }
    }
  }

  async function applyOnce(events: readonly RecordedEvent[], targets: readonly Target[], stop: AbortSignal) {
    let done = 0;
    for (const [index, event] of events.entries()) {
      if (!isEvent<ProjectionSwitched>('ProjectionSwitched', event)) continue;
      const switched = newerBuild(event, targets);
      if (!switched) continue;
      await write(events.slice(done, index + 1), targets);
      done = index + 1;
      await switchTo(switched, event, stop);
    }
    await write(events.slice(done), targets);
  }

  async function write(events: readonly RecordedEvent[], targets: readonly Target[]) {
    const last = events.at(-1)?.position;
    if (last === undefined) return;
    await Promise.all(
      targets.map(async (each) => {
        const news = events.filter((event) => event.position > each.position);
        if (news.length > 0) await each.apply(news);
        cameTo(each, last);
      }),
    );
  }

  function cameTo(target: Target, position: Position) {
    if (position <= target.position) return;
    target.position = position;
    target.moved();
    advanced(target.projection.name, position);
  }

  function newerBuild(event: Switch, targets: readonly Target[]): Target | undefined {
    const build = event.data;
    // Judged by what is written to, not by what is read from: the node may have gone over before its projector.
    return targets.find(
      ({ projection, revision }) =>
        projection.name === build.projection && projection.version === build.version && revision < event.revision,
    );
  }

  /** From the switch on, in log order, the new build takes the events; it already holds all those before. */
  async function switchTo(from: Target, event: Switch, stop: AbortSignal) {
    const build = event.data;
    const { collection } = build;
    const ports = { follow, builds, checkpoints, leases };
    await awaitBuilt(ports, { projection: from.projection, collection, until: event.position, signal: stop });
    // Its builder has read on while it was at it: his checkpoint is not moved back, and what he took is there.
    const position = (await checkpoints.read(collection)) ?? event.position;
    const old = from.collection;
    from.apply = await builds.open(from.projection, collection, from.lease);
    from.collection = collection;
    from.revision = event.revision;
    served.adopt({ ...build, revision: event.revision });
    from.moved();
    cameTo(from, position);
    logger.info({ projection: build.projection, collection, old }, 'projection switched');
    await checkpoints.forget(old);
    removeRetiredLater(stop);
  }

  /** Only while this node leads still: another one may know of a newer build. */
  function removeRetiredLater(stop: AbortSignal) {
    setTimeout(() => {
      if (!stop.aborted) removeRetired().catch(() => {});
    }, RETIRE_AFTER_MS).unref();
  }

  /**
   * Drops builds that were served before the present one, also when another one is being made, which may wait for
   * that. While none is being made, also those that never came to a checkpoint, and those that are ahead of the log,
   * which was restored since: nobody will go on with them.
   */
  async function removeRetired() {
    for (const projection of projections) {
      const found = await builds.list(buildsPrefix(projection));
      // Asked for afterwards: what is found may be of a build that has just been begun.
      const isBuilt = (await leases.holder(buildLease(projection.name))) !== undefined;
      const present = served.collection(projection.name) ?? '';
      for (const collection of found) {
        if (collection === present) continue;
        const mayBeGoneOnWith = runOf(collection) > runOf(present);
        if (mayBeGoneOnWith && (isBuilt || (await isGoneOnWith(collection)))) continue;
        await dropBuild({ builds, checkpoints }, collection);
        logger.info({ projection: projection.name, collection }, 'retired build dropped');
      }
    }
  }

  async function isGoneOnWith(collection: string): Promise<boolean> {
    const at = await checkpoints.read(collection);
    // In this order: the log may grow in between, and the build with it.
    return at !== undefined && at <= (await head());
  }

  return {
    status: () => ({
      status,
      position,
      lagMs: status === 'live' ? 0 : Math.max(0, Date.now() - lastEventAt),
    }),
    stopped: runAsLeader({
      leases,
      lease: projectorLease(group),
      lead,
      standbyMs: STANDBY_MS,
      onStandby() {
        status = 'standby';
      },
      onFailure: (err) => logger.error({ err, group }, 'projector stopped, starting again'),
      signal,
    }),
  };
}
