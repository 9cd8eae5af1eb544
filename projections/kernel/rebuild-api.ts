/** Rebuilds of one read model, for whoever asks for them and knows nothing of builds. */
import { sleep } from '../../application/concurrency/index.js';
import { type Position, UnavailableError } from '../../application/ports/index.js';
import type { Served } from './active-builds.js';
import type { ReadModel } from './projection.js';
import { BuildInProgress, type createRebuilder } from './rebuild.js';

export interface RebuildsPorts {
  readonly lifecycle: Pick<ReturnType<typeof createRebuilder>, 'rebuild' | 'underWay'>;
  readonly served: Served;
}

/** `signal` ends a rebuild that is under way, with `Unavailable`; it is gone on with later. */
export function rebuildsOf(model: ReadModel, { lifecycle, served }: RebuildsPorts, signal: AbortSignal) {
  /** However what is stopped breaks off: nothing has failed that will not come right when it is asked for again. */
  async function unlessStopped<Answer>(work: Promise<Answer>): Promise<Answer> {
    try {
      return await work;
    } catch (error) {
      throw signal.aborted ? new UnavailableError('the rebuild was stopped', { cause: error }) : error;
    }
  }

  return {
    /** Builds anew and switches; resolves with the new build's name. `onBegun`: nobody else can build now. */
    rebuild: (onBegun: () => void, told: (events: number, position: Position, until: Position) => void) =>
      unlessStopped(
        lifecycle.rebuild(model, {
          signal,
          onBegun,
          onProgress: ({ events, position }, until) => told(events, position, until),
        }),
      ),

    /** How far the build is that some process makes now. */
    underWay: () => lifecycle.underWay(model),

    /** Resolves when this node serves the build. */
    async serving(build: string) {
      while (served.collection(model.name) !== build && served.known(model.name)) {
        if (signal.aborted) throw new UnavailableError('the rebuild was stopped');
        await sleep(SOON_MS, signal);
      }
    },

    /** Whether an error says that another process is at it. */
    isElsewhere: (error: unknown) => error instanceof BuildInProgress,
  };
}

const SOON_MS = 20;
