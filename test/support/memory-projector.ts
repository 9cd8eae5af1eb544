/** What the projector has around it, in memory: a log that a test feeds, and all that it says and tells. */
import { eventually } from '@annals/engines/testing/condition.js';
import type { Position } from '../../application/ports/index.js';
import { createActiveBuilds } from '../../projections/kernel/active-builds.js';
import type { ReadModel } from '../../projections/kernel/projection.js';
import { type Projector, runProjector } from '../../projections/kernel/projector.js';
import { buildsInMemory, checkpointsInMemory, feed, leasesInMemory } from './memory-ports.js';
import { contents } from './toy-service.js';

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
  const say = (level: string) => (fields: object, message: string) =>
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
      logger: { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') },
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
    saved: (name = 'toys_contents_v1_b') => now.checkpoints.kept.get(name)?.position,
    begun: (times = 1) => eventually(() => now.log.asked.length >= times),
    wrote: (...positions: readonly bigint[]) => eventually(() => positions.every((each) => rows().includes(each))),
    said: (message: string) => eventually(() => now.lines.find((line) => line.message === message)),
  });
}
