/** Reads the resume windows of the services at the start of a node. */
import type { Position } from '../../application/ports/index.js';
import { readResumeWindow, type WindowStart } from '../../application/subscription/index.js';
import type { ReadModel } from '../../projections/kernel/index.js';
import type { Kernel } from './kernel.js';
import type { Service } from './service.js';

/** Reads from where the streams of each service can be resumed, as the last node stored it. */
export async function readWindows(
  kernel: Kernel,
  services: readonly Service[],
  head: Position,
): Promise<Map<string, WindowStart>> {
  const windows = services.map(async ({ name, projections }) => {
    const projected = await lowestCheckpoint(kernel, projections);
    return [name, await readResumeWindow(kernel.windows, name, head, projected)] as const;
  });
  return new Map(await Promise.all(windows));
}

/** The lowest checkpoint of these read models; undefined while one of them has none and is still empty. */
async function lowestCheckpoint({ checkpoints, served }: Kernel, projections: readonly ReadModel[]) {
  const reads = projections.map(({ name }) => checkpoints.read(served.collection(name) ?? ''));
  const positions = (await Promise.all(reads)).filter((each) => each !== undefined);
  const [lowest] = positions.length < reads.length ? [] : positions.sort((a, b) => (a < b ? -1 : 1));
  return lowest;
}
