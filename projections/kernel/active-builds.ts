/** Active build of each read model in this process, following the `ProjectionSwitched` events of the log. */
import type { Db } from 'mongodb';
import { sleep } from '../../application/concurrency/index.js';
import { type Logger, type RecordedEvent, UnavailableError } from '../../application/ports/index.js';
import type { ActiveBuild, ProjectionSwitched } from '../../domain/shared/index.js';
import { awaitBuilt } from './build.js';
import type { ReadModel } from './projection.js';

export interface KnownBuild extends ActiveBuild {
  /** Revision of the switch event; older switches, read again in a replay, are ignored. */
  readonly revision: number;
}

export type Served = ReturnType<typeof createActiveBuilds>;

export function createActiveBuilds() {
  const builds = new Map<string, KnownBuild>();
  return {
    collection: (projection: string) => builds.get(projection)?.collection,
    /** Returns a function that looks up the collection of a projection. */
    collectionOf: (projection: string) => () => builds.get(projection)?.collection,
    known: (projection: string) => builds.get(projection),
    adopt(build: KnownBuild) {
      const current = builds.get(build.projection);
      if (!current || current.revision < build.revision) builds.set(build.projection, build);
    },
  };
}

const RETRY_MS = 1000;

export type BuildSwitchPorts = Parameters<typeof awaitBuilt>[0] & { readonly served: Served };

/**
 * Creates a function that serves the build of a `ProjectionSwitched` event once it contains everything up to that
 * event. Ignores builds of other versions and builds older than the active one. Retries failures, because the previous
 * build is dropped soon. Settles after the switch or on abort; never rejects.
 */
export const createBuildSwitch =
  (ports: BuildSwitchPorts, projections: readonly ReadModel[], logger: Logger, signal: AbortSignal) =>
  async (event: RecordedEvent<ProjectionSwitched>): Promise<void> => {
    const build = event.data;
    const { collection } = build;
    const { served } = ports;
    const projection = projections.find(({ name, version }) => name === build.projection && version === build.version);
    const isNewer = () => (served.known(build.projection)?.revision ?? -1) < event.revision;
    while (projection && isNewer() && !signal.aborted) {
      try {
        await awaitBuilt(ports, { projection, collection, until: event.position, signal });
        served.adopt({ ...build, revision: event.revision });
      } catch (error) {
        if (!signal.aborted)
          logger.error({ err: error, ...build }, 'could not switch to a new build of the read model, trying again');
        await sleep(RETRY_MS, signal);
      }
    }
  };

/**
 * Throws `UnavailableError` if a build does not exist (any more): this node has not yet received the switch event. Call
 * it after reading a build, before using the result. The main collection of a build is created first and dropped first.
 */
export async function assertBuildExists(db: Db, build: string | undefined): Promise<void> {
  const collections = await db.listCollections({ name: build }, { nameOnly: true }).toArray();
  if (collections.length === 0) throw new UnavailableError(`build ${build} was dropped; try again`);
}
