/** Goes over to another build of a read model, on every node, once the log has said so. */
import { sleep } from '../../application/concurrency/index.js';
import type { Logger, RecordedEvent } from '../../application/ports/index.js';
import type { ProjectionSwitched } from '../../domain/shared/index.js';
import { awaitBuilt, type ReadModel } from '../../projections/kernel/index.js';
import type { Kernel } from './kernel.js';

const RETRY_MS = 1000;

/**
 * Serves the build of a `ProjectionSwitched` once it holds everything up to that event; one of another version, or
 * older than what is served, is left. What fails is tried again: the former build goes soon, and a node that still
 * read from it would show nothing. Settles then, or by the signal; never rejects.
 */
export async function adopt(
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
  const isNews = () => (served.known(build.projection)?.revision ?? -1) < event.revision;
  while (projection && isNews() && !signal.aborted) {
    try {
      await awaitBuilt(kernel, { projection, collection, until: event.position, signal });
      served.adopt({ ...build, revision: event.revision });
    } catch (error) {
      if (!signal.aborted) logger.error({ err: error, ...build }, 'a new build was not adopted, trying again');
      await sleep(RETRY_MS, signal);
    }
  }
}
