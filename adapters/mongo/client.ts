/** The connection to MongoDB: one client, two databases (read models, and keys apart from them). */
import { type Db, type DbOptions, MongoClient, ReadConcern } from 'mongodb';
import { STORE_CALL_MS } from '../../application/concurrency/index.js';
import { answered, withCallPolicy } from './call-policy.js';

/** How long a server is looked for where a process begins, and for how long one may be silent. */
const CONNECT_MS = 10_000;

/** Whatever the address says of them: what a secondary has not heard of yet would be taken for gone, a key for lost. */
const CONCERNS: DbOptions = {
  readPreference: 'primary',
  readConcern: new ReadConcern('local'),
  writeConcern: { w: 'majority', journal: true },
};

export interface Mongo {
  /** Read models, checkpoints, leases. */
  readonly models: Db;
  /** The subjects' keys: a database of its own, to be backed up apart from the log, or not at all. */
  readonly keys: Db;
  ping(): Promise<void>;
  /** Resolves when the server takes writes: a full disk, or a member that is no primary, still answers pings. */
  writable(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects and waits until the server answers. Every write is flushed to its journal before it counts. Everything
 * asked through it has a deadline and rejects with `Unavailable` when the server is away. `withinMs`: the server is looked
 * for so long.
 */
export async function connectMongo(url: string, database: string, withinMs = CONNECT_MS): Promise<Mongo> {
  const client = new MongoClient(url, {
    // An embedded engine tells by the name that its address gives whose connections are its own program's.
    ...(/[?&]appName=/i.test(url) ? {} : { appName: 'annals' }),
    serverSelectionTimeoutMS: withinMs,
    // A server that is silent for so long is taken for gone, and the connections to it are cut.
    connectTimeoutMS: CONNECT_MS,
    maxPoolSize: 32,
    // What has waited until nobody asks for it any more must not be done later.
    waitQueueTimeoutMS: STORE_CALL_MS,
    // Rows carry positions as Long: read back as numbers they would lose their last digits.
    promoteLongs: false,
    ignoreUndefined: true,
  });
  await answered(client.connect(), withinMs + STORE_CALL_MS).catch((error) => {
    // Not waited for either; what goes on in it would keep the process from ending.
    client.close().catch(() => {});
    throw error;
  });
  const models = withCallPolicy(client.db(database, CONCERNS));
  const admin = withCallPolicy(client.db('admin', CONCERNS));
  return {
    models,
    keys: withCallPolicy(client.db(`${database}_keys`, CONCERNS)),
    ping: async () => {
      await admin.command({ ping: 1 });
    },
    writable: async () => {
      const rows = models.collection<{ _id: string }>('trial');
      await rows.updateOne({ _id: 'trial' }, { $set: { at: new Date() } }, { upsert: true });
    },
    close: () => client.close(),
  };
}
