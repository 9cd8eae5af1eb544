/** The connection to MongoDB: one client, two databases (read models, and keys apart from them). */
import { type Db, MongoClient } from 'mongodb';

export interface Mongo {
  /** Read models, checkpoints, leases. */
  readonly models: Db;
  /** The subjects' keys: a database of its own, to be backed up apart from the log, or not at all. */
  readonly keys: Db;
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** Connects and waits until the server answers. Every write is flushed to its journal before it counts. */
export async function connectMongo(url: string, database: string): Promise<Mongo> {
  const client = new MongoClient(url, {
    appName: 'annals',
    writeConcern: { w: 'majority', journal: true },
    serverSelectionTimeoutMS: 10_000,
    maxPoolSize: 32,
    // Rows carry positions as Long: read back as numbers they would lose their last digits.
    promoteLongs: false,
    ignoreUndefined: true,
  });
  await client.connect();
  return {
    models: client.db(database),
    keys: client.db(`${database}_keys`),
    ping: async () => {
      await client.db('admin').command({ ping: 1 });
    },
    close: () => client.close(),
  };
}
