/** Active build of each read model in this process, following the `ProjectionSwitched` events of the log. */
import type { ActiveBuild } from '../../domain/shared/index.js';

export interface KnownBuild extends ActiveBuild {
  /** Revision of the switch event; older switches, read again in a replay, are ignored. */
  readonly revision: number;
}

export interface Served {
  collection(projection: string): string | undefined;
  known(projection: string): KnownBuild | undefined;
  adopt(build: KnownBuild): void;
}

export function createActiveBuilds(): Served {
  const builds = new Map<string, KnownBuild>();
  return {
    collection: (projection) => builds.get(projection)?.collection,
    known: (projection) => builds.get(projection),
    adopt(build) {
      const current = builds.get(build.projection);
      if (!current || current.revision < build.revision) builds.set(build.projection, build);
    },
  };
}
