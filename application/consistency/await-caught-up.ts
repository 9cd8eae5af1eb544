/** Waits until a read model shows everything that its service has written: for what is asked of rows, but not by a reader. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Checkpoints, ProjectionProgress, Subscribe } from '../ports/index.js';

export interface AllShownPorts {
  readonly follow: Subscribe;
  readonly checkpoints: Pick<Checkpoints, 'read'>;
  readonly settled: Pick<ProjectionProgress, 'wait'>;
  /** The build that is served now. */
  readonly build: () => string | undefined;
}

/** Resolves when the rows show what was in the log as it was called; rejects when it is stopped. */
export function createCaughtUpBarrier(projection: string, { follow, checkpoints, settled, build }: AllShownPorts) {
  const service = serviceOf(projection);
  return async (signal: AbortSignal): Promise<void> => {
    let last = 0n;
    const from = (await checkpoints.read(build() ?? '')) ?? 'start';
    for await (const { events, caughtUp } of follow({ prefixes: [`${service}.`], from, signal })) {
      last = events.at(-1)?.position ?? last;
      if (caughtUp) break;
    }
    while (!(await settled.wait(projection, last))) signal.throwIfAborted();
  };
}
