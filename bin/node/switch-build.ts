/** Switches this node to another build of a read model when the log announces it. */
import { sleep } from '../../application/concurrency/index.js';
import type { Logger, RecordedEvent } from '../../application/ports/index.js';
import type { ProjectionSwitched } from '../../domain/shared/index.js';
import { awaitBuilt, type ReadModel } from '../../projections/kernel/index.js';
import type { Kernel } from './kernel.js';

const RETRY_MS = 1000;

/**
 * Serves the build of a `ProjectionSwitched` event once it contains everything up to that event. Ignores builds of
 * other versions and builds older than the active one. Retries failures, because the previous build is dropped soon.
 * Settles after the switch or on abort; never rejects.
 */
export async function switchBuild(
  kernel: Pick<Kernel, 'follow' | 'builds' | 'checkpoints' | 'leases' | 'served'>,
  projections: readonly ReadModel[],
  event: RecordedEvent<ProjectionSwitched>,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> {
  const build = event.data;
  const { collection } = build;
  const { served } = kernel;
  const projection = projections.find(({ name, version }) => name === build.projection && version === build.version);
  const isNewer = () => (served.known(build.projection)?.revision ?? -1) < event.revision;
  while (projection && isNewer() && !signal.aborted) {
    try {
      await awaitBuilt(kernel, { projection, collection, until: event.position, signal });
      served.adopt({ ...build, revision: event.revision });
    } catch (error) {
      if (!signal.aborted)
        logger.error({ err: error, ...build }, 'could not switch to a new build of the read model, trying again');
      await sleep(RETRY_MS, signal);
    }
  }
}
