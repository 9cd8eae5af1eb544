/** Connects the transparency log to the stores. */
import { randomBytes } from 'node:crypto';
import { createEventLookup } from '../../adapters/eventstore/event-log.js';
import { createTreeStore } from '../../adapters/mongo/audit/tree-rows.js';
import { createWitness } from '../../adapters/outbound/witness.js';
import { ConfigError } from '../../adapters/platform/config/config-error.js';
import { type AuditPorts, auditTask, createSigner } from '../../application/audit/index.js';
import type { Logger } from '../../application/ports/index.js';
import { runAsLeader } from '../../application/subscription/index.js';
import { type AnnalsValues, serviceNames } from '../settings.js';
import type { Kernel } from './kernel.js';

/** Lease of the process that appends to the transparency log. */
export const AUDIT_LEASE = 'audit';

const SEED_BYTES = 32;

export function auditPorts(
  { mongo, client, keys, followStored, positions }: Kernel,
  values: Pick<AnnalsValues, 'audit.name' | 'audit.witnesses'>,
  logger: Logger,
): AuditPorts {
  return {
    store: createTreeStore(mongo.audit),
    followStored,
    eventAt: createEventLookup(client, positions),
    async signer(keyNumber) {
      const seed = await keys.create(`audit:${keyNumber}`, randomBytes(SEED_BYTES));
      if (!seed) throw new Error(`the key ${keyNumber} of the transparency log was destroyed`);
      return createSigner(values['audit.name'], seed);
    },
    // Also those of services that do not run on this node.
    prefixes: serviceNames.map((name) => `${name}.`),
    witnesses: values['audit.witnesses'].map((setting) => {
      const witness = createWitness(setting);
      if (!witness)
        throw new ConfigError(
          'audit.witnesses',
          'has an address or a key that is not valid: the key must be copied whole',
        );
      return witness;
    }),
    logger,
  };
}

/** Appends to the transparency log while this node holds its lease. */
export const runTransparencyLog = (
  kernel: Kernel,
  values: AnnalsValues,
  logger: Logger,
  signal: AbortSignal,
): Promise<void> =>
  runAsLeader({
    leases: kernel.leases,
    lease: AUDIT_LEASE,
    task: auditTask(auditPorts(kernel, values, logger)),
    standbyMs: 5000,
    onFailure: (err) => logger.error({ err }, 'the transparency log cannot be appended to; retrying'),
    signal,
  });
