/** Connects the ports of the application to their adapters, for all commands of the program. */
import { randomBytes } from 'node:crypto';
import type { Db } from 'mongodb';
import { aes256gcm } from '../../adapters/crypto/cipher.js';
import { createDerivation } from '../../adapters/crypto/derivation.js';
import { createPasswordHashing } from '../../adapters/crypto/scrypt.js';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { createCodec, decodeStoredEvent } from '../../adapters/eventstore/codec.js';
import { createEventLog } from '../../adapters/eventstore/event-log.js';
import { createPositionLookup } from '../../adapters/eventstore/log-positions.js';
import { createSubscription, readHeadPosition } from '../../adapters/eventstore/subscription.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createCheckpoints, createWindows } from '../../adapters/mongo/coordination/checkpoints.js';
import { createLeases } from '../../adapters/mongo/coordination/leases.js';
import { createSnapshots } from '../../adapters/mongo/coordination/snapshots.js';
import { openKeys, type SecretSource } from '../../adapters/mongo/keys/key-store.js';
import { createStoredSecret } from '../../adapters/mongo/keys/keyring.js';
import { createBuilds, createRows } from '../../adapters/mongo/rows/row-store.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import {
  createAggregateStore,
  createHandleCommand,
  createIdempotency,
  systemContext,
} from '../../application/command/index.js';
import { createProjectionProgress } from '../../application/consistency/index.js';
import { type Logger, UnfinishedMigrationError } from '../../application/ports/index.js';
import {
  createEventDecryptor,
  createUndecryptableCounter,
  createVault,
  treatAsErased,
} from '../../application/secrets/index.js';
import { encryptSnapshots } from '../../application/subscription/index.js';
import { createStoreClock } from '../../application/time/index.js';
import { type Catalog, servedEvents } from '../../domain/shared/index.js';
import { createActiveBuilds, createRebuilder, newRun, type ReadModel } from '../../projections/kernel/index.js';
import { createTracing, type Tracing } from './traced.js';

export interface KernelOptions {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  readonly mongoDatabase: string;
  /** The secret that wraps the keys. Default: one stored next to them. */
  readonly secret?: (keys: Db) => SecretSource;
  readonly node: string;
  readonly release: string;
  readonly catalogs: readonly Catalog[];
  readonly projections: readonly ReadModel[];
  readonly logger: Logger;
  readonly metrics: KernelMetrics;
  readonly tracing?: Tracing;
}

export type KernelMetrics = Pick<Metrics, 'countAppended' | 'conflicted' | 'countUndecryptable'>;

/** For processes that serve no metrics. */
export const noMetrics: KernelMetrics = {
  countAppended: (next) => next,
  conflicted() {},
  countUndecryptable() {},
};

export type Kernel = Awaited<ReturnType<typeof createKernel>>;

const DUPLICATE_NODE =
  'another process uses the name of this node, as after copying the data directory; remove node/name from the copy';

/** Connects to both servers and waits until they answer. */
export async function createKernel(options: KernelOptions) {
  const { logger, node, metrics, tracing = createTracing(undefined) } = options;
  const mongo = await connectMongo(options.mongoUrl, options.mongoDatabase);
  const client = connectEventStore(options.eventStoreUrl);
  const positions = createPositionLookup(client);
  const close = async () => {
    await client.dispose();
    await mongo.close();
  };
  // Callers that need the event store report that it does not answer.
  await positions().catch(async (error) => {
    if (!(error instanceof UnfinishedMigrationError)) return;
    await close();
    throw error;
  });
  const catalogs = options.catalogs.map(({ service, events }) => ({
    service,
    events: { ...servedEvents, ...events },
  }));

  const { secret = (db) => ({ stored: createStoredSecret(db) }) } = options;
  const { keys, installation } = await openKeys(mongo.keys, secret(mongo.keys), randomBytes(32), logger).catch(
    async (error) => {
      await close();
      throw error;
    },
  );

  const undecryptable = createUndecryptableCounter(logger, metrics.countUndecryptable);
  // Decryptors report which event failed; everything else sees an undecryptable secret as erased.
  const throwingVault = createVault(keys, aes256gcm);
  const vault = treatAsErased(throwingVault, undecryptable.onUndecryptable);
  const codec = createCodec(catalogs, vault);
  const eventLog = createEventLog(client, codec, logger);
  const log = { ...eventLog, append: tracing.appends(eventLog.append) };
  const clock = createStoreClock({ queryTime: log.time, logger });
  const follow = createSubscription(client, codec.decode, logger, positions);
  const decryptEvent = createEventDecryptor(throwingVault, undecryptable.onUndecryptable);
  const aggregates = createAggregateStore(log, decryptEvent);
  const served = createActiveBuilds();
  const checkpoints = createCheckpoints(mongo.models);
  const leases = createLeases(mongo.models, node, {
    clock,
    onDuplicate: (owner) => logger.error({ owner }, DUPLICATE_NODE),
  });
  const builds = createBuilds(mongo.models, vault);

  const projectionProgress = createProjectionProgress((projection) =>
    checkpoints.read(served.collection(projection) ?? ''),
  );

  /** Called for every append before its command is answered. */
  const appended = metrics.countAppended(projectionProgress.appended);

  const idempotency = createIdempotency({ aggregates, clock, appended });
  const commands = createHandleCommand({
    log,
    aggregates,
    idempotency,
    release: options.release,
    logger,
    appended,
    conflicted: metrics.conflicted,
  });
  const handle = tracing.commands(commands);

  const head = async () => (await readHeadPosition(client)) ?? 0n;
  const lifecycle = createRebuilder({
    follow,
    builds,
    checkpoints,
    leases,
    aggregates,
    handle,
    head,
    newRun: (after) => newRun(after, clock.now(), randomBytes(5).toString('hex')),
    context: () => systemContext('system'),
  });

  return {
    node,
    release: options.release,
    catalogs,
    mongo,
    client,
    /** Connects worker threads to the read models. May hold credentials. */
    models: { url: options.mongoUrl, database: options.mongoDatabase },
    log,
    clock,
    follow,
    followStored: createSubscription(client, decodeStoredEvent, logger, positions),
    /** Positions of a log that was migrated to this event store. */
    positions,
    keys,
    vault,
    decryptEvent,
    /** Decrypts for a single pass through the log. */
    decryptEventOnce: createEventDecryptor(throwingVault, undecryptable.onUndecryptable, { once: true }),
    /** Decrypts for the live feed, from the start of this node. */
    decryptLiveEvent: createEventDecryptor(throwingVault, undecryptable.onUndecryptable, { live: true }),
    /** How many undecryptable values this process has met. */
    undecryptableCount: undecryptable.count,
    onUndecryptable: undecryptable.onUndecryptable,
    aggregates,
    handle,
    idempotency,
    appended,
    projectionProgress,
    served,
    rows: createRows(mongo.models, served.collection),
    builds,
    checkpoints,
    windows: createWindows(mongo.models),
    snapshots: encryptSnapshots(createSnapshots(mongo.models), {
      sealBytes: vault.sealBytes,
      openBytes: throwingVault.openBytes,
    }),
    leases,
    lifecycle,
    derivation: createDerivation(installation),
    /** One for all services: they share the cores it runs on. */
    passwords: createPasswordHashing(),
    head,
    systemContext,
    close,
  };
}
