/** Connects this process to the other nodes when a service first needs them. */
import { randomBytes } from 'node:crypto';
import { type OpenCluster, openCluster } from '../../adapters/cluster/cluster.js';
import { joinMembers } from '../../adapters/mongo/coordination/membership.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import type { Cluster, Logger } from '../../application/ports/index.js';
import type { AnnalsValues } from '../settings.js';
import type { Kernel } from './kernel.js';

export interface NodeClusterOptions {
  readonly kernel: Pick<Kernel, 'node' | 'mongo' | 'derivation'>;
  readonly values: Pick<AnnalsValues, 'mesh.host' | 'mesh.port' | 'mesh.address'>;
  readonly metrics: Pick<Metrics, 'cluster'>;
  readonly logger: Logger;
}

export function createNodeCluster({ kernel, values, metrics, logger }: NodeClusterOptions) {
  let opening: Promise<OpenCluster> | undefined;
  let current: OpenCluster | undefined;

  async function open(): Promise<OpenCluster> {
    // Distinguishes the runs of a node, which keeps its name over restarts while its connections are lost.
    const run = `${kernel.node}~${randomBytes(4).toString('hex')}`;
    const mesh = await openCluster({
      run,
      key: kernel.derivation.secret('mesh'),
      host: values['mesh.host'],
      port: values['mesh.port'],
      address: values['mesh.address'],
      join: (address, onRefresh, listUnreachable) =>
        joinMembers(
          kernel.mongo.models,
          { run, address },
          {
            onRefresh,
            listUnreachable,
            onError: (err) => logger.warn({ err }, 'the list of live nodes could not be read, trying again'),
          },
        ),
      observe: metrics.cluster,
      logger,
    });
    current = mesh;
    logger.info({ run, address: mesh.address }, `other nodes on ${mesh.address}`);
    return mesh;
  }

  return {
    async channel(name: string): Promise<Cluster> {
      opening ??= open();
      return (await opening).channel(name);
    },
    /** Names of the live nodes; empty while no service uses the cluster. */
    nodes: (): readonly string[] => [...(current?.liveNodes() ?? [])].map((run) => run.split('~')[0]!),
    /** Names of nodes that can't reach this one; empty while no service uses the cluster. */
    unreachedBy: (): readonly string[] => current?.unreachedBy() ?? [],
    async close() {
      const mesh = await opening?.catch(() => undefined);
      await mesh?.close();
    },
  };
}
