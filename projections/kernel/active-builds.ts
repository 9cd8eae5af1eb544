/** Which build of each read model this process reads from; the log has the last word (`ProjectionSwitched`). */
import type { ActiveBuild } from '../../domain/shared/index.js';

export interface KnownBuild extends ActiveBuild {
  /** The revision of the switch in its stream: older ones, met again in a replay, are history. */
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
