/** The connection to MongoDB: one client, three databases (read models, keys, transparency log). */
import { type DbOptions, MongoClient, ReadConcern } from 'mongodb';
import { STORE_CALL_MS } from '../../application/concurrency/index.js';
import { callServer, withCallPolicy } from './call-policy.js';

/** Default server selection timeout at start, and the limit for a silent connection. */
const CONNECT_MS = 10_000;

/** Override the connection string: to a secondary that lags, a new document would look deleted and a new key lost. */
const CONCERNS: DbOptions = {
  readPreference: 'primary',
  readConcern: new ReadConcern('local'),
  writeConcern: { w: 'majority', journal: true },
};

export type Mongo = Awaited<ReturnType<typeof connectMongo>>;

/** Connects and waits until the server answers. Every call has a deadline. `withinMs`: server selection timeout. */
export async function connectMongo(url: string, database: string, withinMs = CONNECT_MS) {
  const client = new MongoClient(url, {
    // The embedded engine recognises connections of its own program by this name.
    ...(/[?&]appName=/i.test(url) ? {} : { appName: 'annals' }),
    serverSelectionTimeoutMS: withinMs,
    // A server that is silent this long counts as gone, and its connections are closed.
    connectTimeoutMS: CONNECT_MS,
    maxPoolSize: 32,
    // A call whose deadline passed in the queue must not run later.
    waitQueueTimeoutMS: STORE_CALL_MS,
    // Positions are 64-bit; as numbers they would lose digits.
    promoteLongs: false,
    ignoreUndefined: true,
  });
  await callServer(client.connect(), withinMs + STORE_CALL_MS).catch((error) => {
    // Not awaited; open work of the client would keep the process alive.
    client.close().catch(() => {});
    throw error;
  });
  const models = withCallPolicy(client.db(database, CONCERNS));
  const admin = withCallPolicy(client.db('admin', CONCERNS));
  return {
    models,
    /** Encryption keys of subjects. A separate database, to be backed up apart from the log or not at all. */
    keys: withCallPolicy(client.db(`${database}_keys`, CONCERNS)),
    /** The transparency log, which unlike read models cannot be rebuilt. */
    audit: withCallPolicy(client.db(`${database}_audit`, CONCERNS)),
    ping: async () => {
      await admin.command({ ping: 1 });
    },
    serverVersion: async () => String((await admin.command({ buildInfo: 1 })).version),
    /** Resolves if the server accepts writes. With a full disk, or as a secondary, it still answers pings. */
    writable: async () => {
      const rows = models.collection<{ _id: string }>('trial');
      await rows.updateOne({ _id: 'trial' }, { $set: { at: new Date() } }, { upsert: true });
    },
    close: () => client.close(),
  };
}
