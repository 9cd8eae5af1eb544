/** The projector and the rebuilder with everything around them in memory. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { Position, RecordedEvent, Subscribe } from '../../../application/ports/index.js';
import type { ServedState, SwitchProjection } from '../../../domain/shared/active-projection.js';
import { createActiveBuilds } from '../../../projections/kernel/active-builds.js';
import type { ReadModel } from '../../../projections/kernel/projection.js';
import { type Projector, runProjector } from '../../../projections/kernel/projector.js';
import { createRebuilder, type RebuildPorts } from '../../../projections/kernel/rebuild.js';
import { buildsInMemory, checkpointsInMemory, eventAt, feed, leasesInMemory } from '../../support/memory-ports.js';
import { contents } from '../../support/toy-service.js';

export const shelf = { ...contents, name: 'toys.shelf' };

/** Anew for every test of a `describe`; `toys_contents_v1_b` and `toys_shelf_v1_b` are served. */
export function useProjecting() {
  const fresh = () => ({
    log: feed(),
    builds: buildsInMemory(),
    checkpoints: checkpointsInMemory(),
    leases: leasesInMemory(),
    served: createActiveBuilds(),
    lines: [] as { level: string; message: string; [field: string]: unknown }[],
    reached: [] as [string, Position][],
    wanted: [] as [string, number][],
    stop: new AbortController(),
    running: [] as Projector[],
  });
  const now = fresh();
  beforeEach(() => {
    Object.assign(now, fresh());
    serve('toys_contents_v1_b');
    serve('toys_shelf_v1_b', shelf);
  });
  afterEach(async () => {
    now.stop.abort();
    await Promise.all(now.running.map(({ stopped }) => stopped));
  });

  const serve = (collection: string, { name, version } = contents, revision = 0) =>
    now.served.adopt({ projection: name, version, collection, revision });
  const logAt = (level: string) => (fields: object, message: string) =>
    void now.lines.push({ level, message, ...fields });
  const project = (projections: readonly ReadModel[] = [contents]) => {
    const projector = runProjector({
      group: { name: 'toys', service: 'toys', projections },
      follow: now.log.follow,
      builds: now.builds.builds,
      checkpoints: now.checkpoints.checkpoints,
      leases: now.leases.leases,
      served: now.served,
      head: async () => 1000n,
      advanced: (projection, position) => void now.reached.push([projection, position]),
      debounceUntilAwaited: async (names, ms) => void now.wanted.push([names.join(), ms]),
      logger: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
      signal: now.stop.signal,
    });
    now.running.push(projector);
    return projector;
  };
  const rows = (name = 'toys_contents_v1_b') => now.builds.collections.get(name) ?? [];
  return Object.assign(now, {
    serve,
    project,
    /** What was written, by position. */
    rows,
    saved: (name = 'toys_contents_v1_b') => now.checkpoints.stored.get(name)?.position,
    begun: (times = 1) => eventually(() => now.log.calls.length >= times),
    wrote: (...positions: readonly bigint[]) => eventually(() => positions.every((each) => rows().includes(each))),
    logged: (message: string) => eventually(() => now.lines.find((line) => line.message === message)),
  });
}

export const LEASE = `build:${contents.name}`;

/** Anew for every test of a `describe`. */
export function useBuildWorld() {
  const fresh = () => ({
    events: [] as RecordedEvent[],
    calls: [] as Parameters<Subscribe>[0][],
    /** Batch size of the log. */
    batchSize: 1000,
    builds: buildsInMemory(),
    checkpoints: checkpointsInMemory(),
    leases: leasesInMemory(),
    stop: new AbortController(),
    /** What is served, and the revision of that fact. */
    state: undefined as ServedState,
    revision: -1,
    head: 100n as Position,
    runs: 0,
    /** Why nothing is switched to, if so. */
    rejected: undefined as string | undefined,
  });
  const now = fresh();
  beforeEach(() => void Object.assign(now, fresh()));
  afterEach(() => now.stop.abort());

  /** What is in the log, then that its head is reached, then nothing. */
  const follow: Subscribe = async function* (options) {
    now.calls.push(options);
    const from = options.from === 'start' ? -1n : options.from;
    const news = now.events.filter(({ position }) => position > from);
    for (let at = 0; at < news.length; at += now.batchSize) {
      const some = news.slice(at, at + now.batchSize);
      if (options.signal.aborted) return;
      yield { events: some, position: some.at(-1)!.position, caughtUp: false };
    }
    if (options.signal.aborted) return;
    yield { events: [], caughtUp: true };
    if (!options.signal.aborted)
      await new Promise((resolve) => {
        options.signal.addEventListener('abort', resolve, { once: true });
      });
  };
  const ports = () => ({
    follow,
    builds: now.builds.builds,
    checkpoints: now.checkpoints.checkpoints,
    leases: now.leases.leases,
  });
  const lifecycle = (more: Partial<RebuildPorts> = {}) =>
    createRebuilder({
      ...ports(),
      aggregates: { reload: async () => ({ state: now.state, revision: now.revision }) },
      handle: async (_: unknown, stream: string, { type: _type, ...build }: SwitchProjection) => {
        expect(stream).to.equal('toys.projection-contents');
        if (now.rejected) return { rejected: now.rejected, kind: 'conflict' };
        [now.state, now.revision, now.head] = [build, now.revision + 1, now.head + 10n];
        now.events.push(eventAt(now.head, 'ProjectionSwitched', build, now.revision));
        return { position: now.head };
      },
      head: async () => now.head,
      newRun: () => `run${++now.runs}`,
      context: () => ({ commandId: 'x', actor: 'system', correlationId: 'x' }),
      ...more,
    } as unknown as RebuildPorts);

  return Object.assign(now, {
    ports,
    lifecycle,
    save: (name: string, position: Position) => now.checkpoints.stored.set(name, { position, lease: LEASE, fence: 0n }),
    saved: (name: string) => now.checkpoints.stored.get(name)?.position,
    written: (name: string) => now.builds.collections.get(name),
    put: (...positions: readonly bigint[]) => now.events.push(...positions.map((each) => eventAt(each))),
    serve(collection: string, version = 1) {
      [now.state, now.revision] = [{ projection: contents.name, version, collection }, 0];
      now.builds.collections.set(collection, []);
    },
  });
}
