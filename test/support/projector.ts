/** The loop that keeps read models up, on the parts of a kernel. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import type { Kernel } from '../../bin/node/kernel.js';
import { serviceOf } from '../../domain/shared/decider.js';
import type { ReadModel } from '../../projections/kernel/projection.js';
import { type Projector, type ProjectorOptions, runProjector } from '../../projections/kernel/projector.js';

type Parts = Pick<Kernel, 'follow' | 'builds' | 'checkpoints' | 'leases' | 'served' | 'projectionProgress' | 'head'>;

/** Runs one loop for all of these, which are of one service, until the signal. */
export function project(
  kernel: Parts,
  projections: readonly ReadModel[],
  signal: AbortSignal,
  more: Partial<ProjectorOptions> = {},
): Projector {
  const service = serviceOf(projections[0]!.name);
  const group = { name: service, service, projections };
  const { advanced, debounceUntilAwaited } = kernel.projectionProgress;
  return runProjector({
    ...kernel,
    advanced: advanced,
    debounceUntilAwaited: debounceUntilAwaited,
    group,
    logger: silentLogger,
    signal,
    ...more,
  });
}
