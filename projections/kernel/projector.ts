/** Projector: applies events to a group of read models, on one node at a time, under a lease. */
import { isEvent, type KernelPorts } from '../../application/command/index.js';
import { sleep } from '../../application/concurrency/index.js';
import type { Batch, Checkpoints, Lease, Position, RecordedEvent } from '../../application/ports/index.js';
import { runAsLeader } from '../../application/subscription/index.js';
import type { ProjectionSwitched } from '../../domain/shared/index.js';
import type { Served } from './active-builds.js';
import { awaitBuilt, dropRetired, projectorLease, RETIRE_AFTER_MS } from './build.js';
import { type Apply, type Builds, batching, debounceMsOf, type ProjectorGroup, type ReadModel } from './projection.js';

export interface ProjectorOptions extends Pick<KernelPorts, 'follow' | 'leases' | 'head' | 'logger'> {
  readonly group: ProjectorGroup;
  readonly builds: Builds;
  readonly checkpoints: Checkpoints;
  readonly served: Served;
  /** Called as soon as the rows of a projection include everything up to a position. */
  readonly advanced: (projection: string, position: Position) => void;
  /** Resolves after `ms`, or as soon as a reader waits for one of these projections. */
  readonly debounceUntilAwaited: (projections: readonly string[], ms: number) => Promise<void>;
  readonly signal: AbortSignal;
}

export type ProjectorStatus = 'standby' | 'catching-up' | 'live' | 'failing';

export interface Projector {
  status(): { readonly status: ProjectorStatus; readonly position: Position };
  /** Settles once the signal has stopped the projector and its lease is released. */
  readonly stopped: Promise<void>;
}

/** Milliseconds that events are collected for one write; a write per event would cost more than the event. */
const DEBOUNCE_MS = 20;
const STANDBY_MS = 500;
const BACKOFF_MS = { first: 100, max: 5000 };

type Switch = RecordedEvent<ProjectionSwitched>;

interface Target {
  readonly projection: ReadModel;
  collection: string;
  /** Revision of the event that activated this build; earlier ones are obsolete. */
  revision: number;
  apply: Apply;
  position: Position;
  readonly lease: Lease;
  /** Set by the checkpoint writer; called when the position has advanced. */
  onAdvance(): void;
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

  async function task(lease: Lease, leaseEnd: AbortSignal) {
    const fenced = new AbortController();
    const stop = AbortSignal.any([leaseEnd, fenced.signal]);
    const targets = await Promise.all(projections.map((each) => openTarget(each, lease)));
    await removeRetired();
    // Again later: the lease of a dead builder may still be held now.
    removeRetiredLater(stop);
    status = 'catching-up';
    const [from = 0n] = targets.map((each) => each.position).sort((a, b) => (a < b ? -1 : 1));
    const saver = createCheckpointWriter(targets, {
      advance: (positions) => checkpoints.advance(positions, lease),
      refused: () => fenced.abort(),
      failed: (err) => logger.warn({ err, group }, 'failed to save checkpoint; retrying'),
    });
    try {
      // Reports the checkpoints, so that readers need not wait for the next event.
      for (const each of targets) if (each.position > 0n) advanced(each.projection.name, each.position);
      const debounceMs = debounceMsOf(projections, DEBOUNCE_MS);
      const selection = { prefixes: [`${service}.`], from: from === 0n ? ('start' as const) : from, signal: stop };
      for await (const batch of follow({ ...selection, ...batching(projections) })) {
        await apply(batch, targets, stop);
        if (batch.caughtUp) status = 'live';
        if (batch.position === undefined) continue;
        position = batch.position;
        if (status === 'live') await debounceUntilAwaited(names, debounceMs);
      }
    } finally {
      await saver.end();
    }
  }

  async function openTarget(projection: ReadModel, lease: Lease): Promise<Target> {
    const active = served.known(projection.name);
    if (!active) throw new Error(`${projection.name} has no active build`);
    const { collection, revision } = active;
    const apply = await builds.open(projection, collection, lease);
    const position = (await checkpoints.read(collection)) ?? 0n;
    return { projection, collection, revision, apply, lease, position, onAdvance() {} };
  }

  /** Applies a batch; retries forever and logs, because skipping an event would make the rows differ from the log. */
  async function apply(batch: Batch, targets: readonly Target[], stop: AbortSignal) {
    // Restored after a failure, as the subscription may report the head only once.
    const before = status;
    for (let backoff = BACKOFF_MS.first; ; backoff = Math.min(backoff * 2, BACKOFF_MS.max)) {
      try {
        await applyOnce(batch.events, targets, stop);
        for (const each of targets) advanceTo(each, batch.position ?? 0n);
        status = before;
        return;
      } catch (error) {
        stop.throwIfAborted();
        status = 'failing';
        logger.error(
          { err: error, group, after: String(position), retryMs: backoff },
          'failed to apply events; retrying',
        );
        await sleep(backoff, stop);
      }
    }
  }

  async function applyOnce(events: readonly RecordedEvent[], targets: readonly Target[], stop: AbortSignal) {
    let start = 0;
    for (const [index, event] of events.entries()) {
      if (!isEvent<ProjectionSwitched>('ProjectionSwitched', event)) continue;
      const target = findSwitchTarget(event, targets);
      if (!target) continue;
      await write(events.slice(start, index + 1), targets);
      start = index + 1;
      await switchTo(target, event, stop);
    }
    await write(events.slice(start), targets);
  }

  async function write(events: readonly RecordedEvent[], targets: readonly Target[]) {
    const last = events.at(-1)?.position;
    if (last === undefined) return;
    await Promise.all(
      targets.map(async (each) => {
        const newEvents = events.filter((event) => event.position > each.position);
        if (newEvents.length > 0) await each.apply(newEvents);
        advanceTo(each, last);
      }),
    );
  }

  function advanceTo(target: Target, position: Position) {
    if (position <= target.position) return;
    target.position = position;
    target.onAdvance();
    advanced(target.projection.name, position);
  }

  function findSwitchTarget(event: Switch, targets: readonly Target[]): Target | undefined {
    const build = event.data;
    // Compares with the build written to; readers of this node may have switched before its projector.
    return targets.find(
      ({ projection, revision }) =>
        projection.name === build.projection && projection.version === build.version && revision < event.revision,
    );
  }

  async function switchTo(target: Target, event: Switch, stop: AbortSignal) {
    const build = event.data;
    const { collection } = build;
    const ports = { follow, builds, checkpoints, leases };
    await awaitBuilt(ports, { projection: target.projection, collection, until: event.position, signal: stop });
    // The builder may have read past the switch: its checkpoint must not move back.
    const position = (await checkpoints.read(collection)) ?? event.position;
    const old = target.collection;
    target.apply = await builds.open(target.projection, collection, target.lease);
    target.collection = collection;
    target.revision = event.revision;
    served.adopt({ ...build, revision: event.revision });
    target.onAdvance();
    advanceTo(target, position);
    logger.info({ projection: build.projection, collection, old }, 'projection switched');
    await checkpoints.forget(old);
    removeRetiredLater(stop);
  }

  /** Removes retired builds only if this node still leads then: another one may know of a newer build. */
  function removeRetiredLater(stop: AbortSignal) {
    setTimeout(() => stop.aborted || removeRetired().catch(() => {}), RETIRE_AFTER_MS).unref();
  }

  async function removeRetired() {
    for (const { name: projection } of projections) {
      const dropped = await dropRetired(
        { builds, checkpoints, leases, head },
        projection,
        served.collection(projection),
      );
      for (const collection of dropped) logger.info({ projection, collection }, 'retired build dropped');
    }
  }

  return {
    status: () => ({ status, position }),
    stopped: runAsLeader({
      leases,
      lease: projectorLease(group),
      task,
      standbyMs: STANDBY_MS,
      onStandby() {
        status = 'standby';
      },
      onFailure: (err) => logger.error({ err, group }, 'projector stopped; restarting'),
      signal,
    }),
  };
}

interface CheckpointWriterOptions {
  /** Saves checkpoints; false if another leader has saved them meanwhile. */
  readonly advance: (positions: { readonly [collection: string]: Position }) => Promise<boolean>;
  readonly refused: () => void;
  /** Called on every failure; saving is retried with backoff. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds from a change to the save. */
const SAVE_MS = 50;

/**
 * Creates a writer that saves the positions of builds in the background, soon after they have advanced, until `end`,
 * which saves once more.
 */
export function createCheckpointWriter(
  targets: readonly Pick<Target, 'collection' | 'position' | 'onAdvance'>[],
  { advance, refused, failed }: CheckpointWriterOptions,
) {
  let saved = new Map<string, Position>();
  let saving: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let delayMs = SAVE_MS;
  let isEnded = false;
  const unsaved = () => targets.filter(({ collection, position }) => position > (saved.get(collection) ?? 0n));

  async function save() {
    const current = new Map(targets.map(({ collection, position }) => [collection, position]));
    const changes = Object.fromEntries(unsaved().map(({ collection, position }) => [collection, position]));
    try {
      if (await advance(changes)) saved = current;
      else refused();
      delayMs = SAVE_MS;
    } catch (error) {
      delayMs = Math.min(delayMs * 2, BACKOFF_MS.max);
      failed(error);
    }
  }

  function scheduleSave() {
    if (isEnded) return;
    timer ??= setTimeout(() => {
      saving = save().finally(() => {
        timer = undefined;
        if (unsaved().length > 0) scheduleSave();
      });
    }, delayMs);
  }

  for (const each of targets) each.onAdvance = scheduleSave;
  scheduleSave();
  return {
    async end() {
      isEnded = true;
      clearTimeout(timer);
      await saving;
      await save();
    },
  };
}
