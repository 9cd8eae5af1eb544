/** Catch-up barrier: waits until a read model includes everything its service has written, for jobs that read rows. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Checkpoints, ProjectionProgress, Subscribe } from '../ports/index.js';

export interface CaughtUpPorts {
  readonly follow: Subscribe;
  readonly checkpoints: Pick<Checkpoints, 'read'>;
  readonly projectionProgress: Pick<ProjectionProgress, 'wait'>;
  /** Returns the active build. */
  readonly build: () => string | undefined;
}

/** Creates a function that resolves once the rows include everything in the log at the call; throws if stopped. */
export function createCaughtUpBarrier(
  projection: string,
  { follow, checkpoints, projectionProgress, build }: CaughtUpPorts,
) {
  const service = serviceOf(projection);
  return async (signal: AbortSignal): Promise<void> => {
    let last = 0n;
    const from = (await checkpoints.read(build() ?? '')) ?? 'start';
    for await (const { events, caughtUp } of follow({ prefixes: [`${service}.`], from, signal })) {
      last = events.at(-1)?.position ?? last;
      if (caughtUp) break;
    }
    while (!(await projectionProgress.wait(projection, last))) signal.throwIfAborted();
  };
}
