/** Rebuild API of one read model, for use cases that do not deal with builds. */
import { sleep } from '../../application/concurrency/index.js';
import { type Position, UnavailableError } from '../../application/ports/index.js';
import type { Served } from './active-builds.js';
import type { ReadModel } from './projection.js';
import { BuildInProgress, type createRebuilder } from './rebuild.js';

export interface RebuildsPorts {
  readonly lifecycle: Pick<ReturnType<typeof createRebuilder>, 'rebuild' | 'underWay'>;
  readonly served: Served;
}

/** @param signal Stops a running rebuild with `UnavailableError`; it can be resumed later. */
export function rebuildsOf(model: ReadModel, { lifecycle, served }: RebuildsPorts, signal: AbortSignal) {
  /** Reports any failure after a stop as transient, because the rebuild can be resumed. */
  async function asTransientIfStopped<Answer>(work: Promise<Answer>): Promise<Answer> {
    try {
      return await work;
    } catch (error) {
      throw signal.aborted ? new UnavailableError('the rebuild was stopped', { cause: error }) : error;
    }
  }

  return {
    /** Rebuilds and activates; resolves with the name of the new build. `onBegun`: the build lease is acquired. */
    rebuild: (onBegun: () => void, onProgress: (events: number, position: Position, until: Position) => void) =>
      asTransientIfStopped(
        lifecycle.rebuild(model, {
          signal,
          onBegun,
          onProgress: ({ events, position }, until) => onProgress(events, position, until),
        }),
      ),

    /** Returns the progress of a running build, of any process. */
    underWay: () => lifecycle.underWay(model),

    /** Resolves when the build is active on this node. */
    async serving(build: string) {
      while (served.collection(model.name) !== build && served.known(model.name)) {
        if (signal.aborted) throw new UnavailableError('the rebuild was stopped');
        await sleep(POLL_MS, signal);
      }
    },

    /** Whether an error means that another process is building it. */
    isElsewhere: (error: unknown) => error instanceof BuildInProgress,
  };
}

const POLL_MS = 20;
