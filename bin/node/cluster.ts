/** Connects this process with the other nodes, once a service wants to speak with them. */
import { randomBytes } from 'node:crypto';
import { type OpenMesh, openMesh } from '../../adapters/cluster/cluster.js';
import { joinMembers } from '../../adapters/mongo/coordination/membership.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import type { Cluster, Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';
import type { Kernel } from './kernel.js';

export interface MeshingOptions {
  readonly kernel: Pick<Kernel, 'node' | 'mongo' | 'derivation'>;
  readonly values: Pick<AnnalsValues, 'mesh.host' | 'mesh.port' | 'mesh.address'>;
  readonly metrics: Pick<Metrics, 'mesh'>;
  readonly logger: Logger;
}

export function createMeshing({ kernel, values, metrics, logger }: MeshingOptions) {
  let opening: Promise<OpenMesh> | undefined;
  let opened: OpenMesh | undefined;

  async function open(): Promise<OpenMesh> {
    // A node keeps its name when it starts again, and those who were connected to it before are not any more.
    const run = `${kernel.node}~${randomBytes(4).toString('hex')}`;
    const mesh = await openMesh({
      run,
      key: kernel.derivation.secret('mesh'),
      host: values['mesh.host'],
      port: values['mesh.port'],
      address: values['mesh.address'],
      join: (address, looked, unreached) =>
        joinMembers(
          kernel.mongo.models,
          { run, address },
          {
            looked,
            unreached,
            failed: (err) => logger.warn({ err }, 'it is not known which nodes live, looking again'),
          },
        ),
      observe: metrics.mesh,
      logger,
    });
    opened = mesh;
    logger.info({ run, address: mesh.address }, `other nodes on ${mesh.address}`);
    return mesh;
  }

  return {
    async channel(name: string): Promise<Cluster> {
      opening ??= open();
      return (await opening).channel(name);
    },
    /** The names of others that can't reach this one; nobody where no service speaks with them. */
    unreachedBy: (): readonly string[] => opened?.unreachedBy() ?? [],
    async close() {
      const mesh = await opening?.catch(() => undefined);
      await mesh?.close();
    },
  };
}
