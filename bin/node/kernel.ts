/** Connects the ports of the application to their adapters: what every command of the program stands on. */
import { randomBytes, randomUUID } from 'node:crypto';
import type { Db } from 'mongodb';
import { aes256gcm } from '../../adapters/crypto/cipher.js';
import { createDerivation } from '../../adapters/crypto/derivation.js';
import { createPasswordHashing } from '../../adapters/crypto/scrypt.js';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { createCodec } from '../../adapters/eventstore/codec.js';
import { createEventLog } from '../../adapters/eventstore/event-log.js';
import { createFollow, headOf } from '../../adapters/eventstore/subscription.js';
import { connectMongo } from '../../adapters/mongo/client.js';
import { createCheckpoints } from '../../adapters/mongo/coordination/checkpoints.js';
import { createLeases } from '../../adapters/mongo/coordination/leases.js';
import { createWindows } from '../../adapters/mongo/coordination/resume-windows.js';
import { createSnapshots } from '../../adapters/mongo/coordination/snapshots.js';
import { openKeys, type SecretSource } from '../../adapters/mongo/keys/key-store.js';
import { secretBesideKeys } from '../../adapters/mongo/keys/stored-secret.js';
import { createBuilds, createRows } from '../../adapters/mongo/rows/row-store.js';
import { createStreams } from '../../application/command/aggregate-store.js';
import { freshCommandId } from '../../application/command/command-id.js';
import { createHandle } from '../../application/command/handle-command.js';
import { createRepetition } from '../../application/command/idempotency.js';
import { createSettled } from '../../application/consistency/projection-progress.js';
import type { CommandContext, Logger, Position } from '../../application/ports/index.js';
import { asErased, countUnopened, createReveal } from '../../application/secrets/decrypt-events.js';
import { createVault } from '../../application/secrets/vault.js';
import { sealing } from '../../application/subscription/encrypted-snapshots.js';
import { createLasting } from '../../application/time/clock-jump-guard.js';
import { createStoreClock } from '../../application/time/store-clock.js';
import { servedEvents } from '../../domain/shared/active-projection.js';
import type { Catalog } from '../../domain/shared/catalog.js';
import { createServed } from '../../projections/kernel/active-builds.js';
import { newRun, type ReadModel } from '../../projections/kernel/projection.js';
import { createLifecycle } from '../../projections/kernel/rebuild.js';
import type { AnnalsValues } from '../settings.js';
import type { Servers } from './locate-servers.js';
import { release } from './release.js';
import { secretSource } from './secret.js';

export interface KernelOptions {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  readonly mongoDatabase: string;
  /** The secret that wraps the keys; without it one that is kept beside them. */
  readonly secret?: (keys: Db) => SecretSource;
  /** Names this process in leases. */
  readonly node: string;
  readonly release: string;
  readonly catalogs: readonly Catalog[];
  readonly projections: readonly ReadModel[];
  readonly logger: Logger;
  readonly onAppended?: (stream: string, events: number) => void;
  readonly onConflict?: (stream: string) => void;
  /** Something sealed can never be opened again, and is shown as erased. */
  readonly onUnopened?: () => void;
}

/** A kernel for a command that works with all services and serves none. Stops the servers when it can't be had. */
export const openKernel = (
  servers: Servers,
  values: AnnalsValues,
  services: readonly { readonly catalog: Catalog; readonly projections: readonly ReadModel[] }[],
  logger: Logger,
): Promise<Kernel> =>
  createKernel({
    ...servers,
    mongoDatabase: values['mongo.database'],
    secret: (keys) => secretSource(values, servers, keys),
    node: randomUUID(),
    release,
    catalogs: services.map(({ catalog }) => catalog),
    projections: services.flatMap(({ projections }) => projections),
    logger,
  }).catch(async (error) => {
    await servers.stop();
    throw error;
  });

export type Kernel = Awaited<ReturnType<typeof createKernel>>;

const DOUBLED =
  'another process bears the name of this node: the data directory was copied; remove node/name from the copy';

/** Connects to both servers and waits until they answer. */
export async function createKernel(options: KernelOptions) {
  const { logger, node } = options;
  const mongo = await connectMongo(options.mongoUrl, options.mongoDatabase);
  const client = connectEventStore(options.eventStoreUrl);
  const catalogs = options.catalogs.map(({ service, events }) => ({
    service,
    events: { ...servedEvents, ...events },
  }));

  const { secret = (beside) => ({ kept: secretBesideKeys(beside) }) } = options;
  const { keys, installation } = await openKeys(
    mongo.keys,
    secret(mongo.keys),
    randomBytes(32),
    logger,
  ).catch(async (error) => {
    await mongo.close();
    throw error;
  });

  const unopened = countUnopened(logger, () => options.onUnopened?.());
  const telling = createVault(keys, aes256gcm);
  const vault = asErased(telling, unopened.told);
  const codec = createCodec(catalogs, vault);
  const log = createEventLog(client, codec, logger);
  const clock = createStoreClock({ ask: log.time, logger });
  const lasting = createLasting({ clock, ...log, logger });
  const follow = createFollow(client, codec, logger);
  const reveal = createReveal(telling, unopened.told);
  const streams = createStreams(log, reveal);
  const served = createServed();
  const checkpoints = createCheckpoints(mongo.models);
  const leases = createLeases(mongo.models, node, {
    clock,
    doubled: (owner) => logger.error({ owner }, DOUBLED),
  });
  const builds = createBuilds(mongo.models, vault);

  const settled = createSettled(
    options.projections.map(({ name }) => name),
    (projection) => checkpoints.read(served.collection(projection) ?? ''),
  );

  /** To be told of every append before its command is answered. */
  const appended = (stream: string, position: Position, events: number) => {
    settled.appended(stream, position);
    options.onAppended?.(stream, events);
  };

  const repetition = createRepetition({ streams, clock, appended });
  const handle = createHandle({
    log,
    streams,
    repetition,
    release: options.release,
    logger,
    appended,
    conflicted: (stream) => options.onConflict?.(stream),
  });

  /** The position of the last event of the log; one is there from birth. */
  const head = async () => (await headOf(client)) ?? 0n;
  /** For what the program itself does, on nobody's request. */
  const systemContext = (actor: string): CommandContext => {
    const commandId = freshCommandId();
    return { commandId, actor, correlationId: commandId };
  };

  const lifecycle = createLifecycle({
    follow,
    builds,
    checkpoints,
    leases,
    streams,
    handle,
    head,
    newRun: (after) => newRun(after, clock.now(), randomBytes(5).toString('hex')),
    context: () => systemContext('system'),
  });

  return {
    node,
    release,
    catalogs,
    mongo,
    client,
    /** For what reads in threads of its own; with credentials, perhaps. */
    models: { url: options.mongoUrl, database: options.mongoDatabase },
    log,
    clock,
    /** For what lets go of what was kept for days. */
    lasting,
    follow,
    keys,
    vault,
    reveal,
    /** For who goes through the log but once. */
    revealOnce: createReveal(telling, unopened.told, { once: true }),
    /** For the live feed, from where this node began. */
    revealLive: createReveal(telling, unopened.told, { live: true }),
    /** How many things this process has met that can never be opened. */
    unopened: unopened.count,
    /** Tells of one more. */
    toldUnopened: unopened.told,
    streams,
    handle,
    repetition,
    appended,
    settled,
    served,
    rows: createRows(mongo.models, served.collection),
    builds,
    checkpoints,
    windows: createWindows(mongo.models),
    snapshots: sealing(createSnapshots(mongo.models), {
      sealBytes: vault.sealBytes,
      openBytes: telling.openBytes,
    }),
    leases,
    lifecycle,
    derivation: createDerivation(installation),
    /** One for all services: they share the cores that it is done on. */
    passwords: createPasswordHashing(),
    head,
    systemContext,
    async close() {
      await client.dispose();
      await mongo.close();
    },
  };
}
