/** Source and target of a migration, and whether the target may be written to. */
import type { FastClient } from '../../../adapters/eventstore/client.js';
import { connectEventStore } from '../../../adapters/eventstore/client.js';
import { isEmptyStore, type LogCopy, startMigration } from '../../../adapters/eventstore/copy-log.js';
import { COMPLETED, readMigration } from '../../../adapters/eventstore/log-positions.js';
import { readHeadPosition } from '../../../adapters/eventstore/subscription.js';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { INSTALLATION, KEYS, type KeyRow } from '../../../adapters/mongo/keys/key-rows.js';
import type { Logger } from '../../../application/ports/index.js';
import { serviceNames } from '../../settings.js';
import { Failed } from '../failure.js';

export interface Migration extends LogCopy {
  readonly from: Mongo;
  readonly to: Mongo;
}

interface Addresses {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
}

export interface StoreOptions {
  readonly source: Addresses;
  readonly target: Addresses;
  readonly database: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Connects to the stores of both sides for a task, and closes the connections afterwards. */
export async function withStores<Result>(
  { source, target, database, logger, signal }: StoreOptions,
  task: (migration: Migration) => Promise<Result>,
): Promise<Result> {
  const clients: FastClient[] = [];
  const mongos: Mongo[] = [];
  const connect = async ({ eventStoreUrl, mongoUrl }: Addresses) => {
    const mongo = await connectMongo(mongoUrl, database);
    mongos.push(mongo);
    const client = connectEventStore(eventStoreUrl);
    clients.push(client);
    return { mongo, client };
  };
  try {
    const from = await connect(source);
    const to = await connect(target);
    const prefixes = serviceNames.map((name) => `${name}.`);
    const stores = { source: from.client, target: to.client, from: from.mongo, to: to.mongo };
    return await task({ ...stores, prefixes, logger, signal });
  } finally {
    await Promise.all([...clients.map((client) => client.dispose()), ...mongos.map((mongo) => mongo.close())]);
  }
}

/**
 * Checks that the target is empty, or holds an unfinished migration of the same installation. Rejects with `Failed` if
 * it does not.
 */
export async function claimTarget(migration: Migration): Promise<'claimed' | 'complete'> {
  const { source, target, from } = migration;
  const installation = await installationIn(from);
  if ((await readMigration(source)).length > 0)
    throw new Failed('the data directory itself holds a migrated log; it cannot be migrated again');
  const records = await readMigration(target);
  const [first, last] = [records[0], records.at(-1)];
  if (first === undefined) {
    if (!(await isEmptyStore(target))) throw new Failed(`the EventStoreDB ${NOT_EMPTY}`);
    if (!(await isEmptyMongo(migration.to))) throw new Failed(`the MongoDB ${NOT_EMPTY}`);
    await startMigration(target, installation);
    return 'claimed';
  }
  if (textIn(first.data, 'installation') !== installation) throw new Failed(`the EventStoreDB ${ANOTHER}`);
  const other = await migration.to.keys.collection<KeyRow>(KEYS).findOne({ _id: INSTALLATION });
  if (other && createdAt(other) !== installation) throw new Failed(`the MongoDB ${ANOTHER}`);
  // The keys are copied first.
  if (!other && !(await isEmptyMongo(migration.to))) throw new Failed(`the MongoDB ${NOT_EMPTY}`);
  if (last?.type !== COMPLETED) return 'claimed';
  if (!other) throw new Failed('the migration is complete, but to another MongoDB: this one is empty');
  if (textIn(last.data, 'position') === String(await readHeadPosition(source))) return 'complete';
  throw new Failed(
    'the migration is complete, but the data directory was written to since; what was written is not in the servers',
  );
}

const NOT_EMPTY = 'is not empty; choose another one, or remove everything from it';
const ANOTHER = 'holds another installation; choose another one, or remove everything from it';

const textIn = (data: unknown, name: string) => (data as { readonly [name: string]: unknown })[name];

/** Names an installation: the time its first key was created. */
async function installationIn({ keys }: Mongo): Promise<string> {
  const row = await keys.collection<KeyRow>(KEYS).findOne({ _id: INSTALLATION });
  if (!row) throw new Failed('there is nothing to migrate: no server was ever started on this data directory');
  return createdAt(row);
}

const createdAt = (row: KeyRow): string => row.createdAt?.toISOString() ?? '';

async function isEmptyMongo({ models, keys, audit }: Mongo): Promise<boolean> {
  const all = await Promise.all([models, keys, audit].map((db) => db.listCollections().toArray()));
  return all.flat().length === 0;
}
