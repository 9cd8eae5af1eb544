/** Provides the contract tests with a database, and with the code of an expected error. */
import { randomUUID } from 'node:crypto';
import { type Collection, type Db, type Document, MongoClient } from 'mongodb';
import { type MongoOptions, type MongoServer, mongoServer } from './mongo.js';

export interface Fixture {
  readonly server: MongoServer;
  readonly client: MongoClient;
  readonly db: Db;
  /** Returns a new collection. */
  collection(): Collection<Document>;
}

/** Provides a server and a database to the tests of a suite; drops the database afterwards. */
export function fixture(options: MongoOptions = {}): Fixture {
  let state: { server: MongoServer; client: MongoClient; db: Db } | undefined;
  before(async function () {
    this.timeout(120_000);
    const server = await mongoServer(options);
    const client = new MongoClient(server.url, { promoteLongs: true });
    state = { server, client, db: client.db(`contract_${randomUUID().slice(0, 8)}`) };
  });
  after(async () => {
    await state?.db.dropDatabase();
    await state?.client.close();
    await state?.server.stop();
  });
  const started = () => {
    if (!state) throw new Error('used outside a test');
    return state;
  };
  let collections = 0;
  return {
    get server() {
      return started().server;
    },
    get client() {
      return started().client;
    },
    get db() {
      return started().db;
    },
    collection: () => started().db.collection(`c${collections++}`),
  };
}

/** Returns the error's code, or 'accepted'. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return 'accepted';
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error) return error.code;
    throw error;
  }
}

/** Ids of the documents that a query returns, in order. */
export const ids = async (cursor: AsyncIterable<Document>): Promise<unknown[]> => {
  const found: unknown[] = [];
  for await (const document of cursor) found.push(document._id);
  return found;
};
