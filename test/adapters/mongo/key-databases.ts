/** Databases of keys for tests, under the secrets that a test names, and what may happen to them meanwhile. */
import { randomBytes, randomUUID } from 'node:crypto';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { type Db, MongoClient, type ReadPreferenceMode } from 'mongodb';
import type { StoredSecret } from '../../../adapters/crypto/wrapping.js';
import { KEYS, type KeyRow } from '../../../adapters/mongo/keys/key-rows.js';
import { openKeys, type SecretSource } from '../../../adapters/mongo/keys/key-store.js';
import { createStoredSecret } from '../../../adapters/mongo/keys/keyring.js';
import { rotate } from '../../../adapters/mongo/keys/rotate.js';
import { secretFile } from '../../../adapters/platform/config/secret-file.js';
import { UnavailableError } from '../../../application/ports/index.js';

export const [OLD, NEW, OTHER] = ['old', 'new', 'other'].map(
  (name) => `${name} secret of these tests, long enough`,
) as [string, string, string];
export const SUBJECTS = Array.from({ length: 5 }, (_, index) => `room:${index}`);

export const rowsOf = (db: Db) => db.collection<KeyRow>('keys');

/** Opens the keys of a database: under a secret beside them, where no source says another. */
export const open = (db: Db, source: Partial<SecretSource>) =>
  openKeys(db, { stored: createStoredSecret(db), ...source }, randomBytes(32), silentLogger);

/** Everything that these secrets open, by subject, as hex. */
export async function opened(db: Db, source: Partial<SecretSource>): Promise<readonly string[]> {
  const { keys, installation } = await open(db, source);
  const found = await Promise.all(
    SUBJECTS.map(async (subject) => (await keys.read(subject))?.toString('hex') ?? 'missing'),
  );
  return [installation.toString('hex'), ...found];
}

export const rotation = (db: Db, options: Partial<Parameters<typeof rotate>[1]>) =>
  rotate(db, { stored: createStoredSecret(db), fresh: randomBytes(32), logger: silentLogger, ...options });

interface Find {
  readonly databaseName: string;
  readonly filter: object;
  readonly limit?: number;
}

/** A server, and a directory for secrets in files, for all tests of a `describe`. */
export function useKeyDatabases() {
  const directory = temporaryDirectory();
  const databases: Db[] = [];
  const finds: Find[] = [];
  let server: MongoServer;
  let client: MongoClient;
  before(async () => {
    server = await mongoServer();
    client = new MongoClient(server.url, { promoteLongs: false, monitorCommands: true });
    client.on('commandStarted', ({ databaseName, commandName, command }) => {
      if (commandName === 'find' && command.find === KEYS)
        finds.push({ ...(command as Omit<Find, 'databaseName'>), databaseName });
    });
  });
  after(async () => {
    await Promise.all(databases.map((db) => db.dropDatabase()));
    await client.close();
    await server.stop();
    directory.remove();
  });

  function freshDatabase(): Db {
    const db = client.db(`keys_${randomUUID().slice(0, 8)}`);
    databases.push(db);
    return db;
  }
  /** A database with some keys, one of them destroyed. */
  async function filled(source: Partial<SecretSource>, db = freshDatabase()) {
    const { keys } = await open(db, source);
    for (const subject of SUBJECTS) await keys.create(subject, randomBytes(32));
    await keys.destroy(SUBJECTS[4]!);
    const before = await opened(db, source);
    expect(before.map((key) => (key.length === 64 ? 'a key' : key))).to.deep.equal([
      ...Array(5).fill('a key'),
      'destroyed',
    ]);
    return { db, before };
  }

  /** What a server was asked of the keys of a database. */
  const findsIn = (db: Db) => finds.filter(({ databaseName }) => databaseName === db.databaseName);
  const inFile = () => secretFile(`${directory.path}/${randomUUID()}`);
  return { freshDatabase, filled, inFile, findsIn };
}

/** The same database, where something else happens before each call. */
export const interrupted = <T extends object>(target: T, first: (name: string) => Promise<void> | undefined): T =>
  new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'collection') return interrupted(value.apply(object, args), first);
        const happened = first(String(name));
        return happened ? happened.then(() => value.apply(object, args)) : value.apply(object, args);
      };
    },
  });

const WRITES = new Set(['updateOne', 'replaceOne', 'findOneAndUpdate', 'bulkWrite', 'deleteOne', 'replace', 'remove']);

/** Lets `writes` writes through, half of the next one if it is a bulk, and rejects all later ones. */
export function killAfter(writes: number) {
  let left = writes;
  const guard = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'collection') return guard(value.apply(object, args));
          if (!WRITES.has(String(name)) || left-- > 0) return value.apply(object, args);
          const killed = () => Promise.reject(new Error('killed'));
          const [many, ...rest] = args;
          if (left === -1 && Array.isArray(many) && many.length > 1)
            return value.call(object, many.slice(many.length / 2), ...rest).then(killed);
          return killed();
        };
      },
    });
  return { database: (db: Db) => guard(db), storedSecret: (storedSecret: StoredSecret) => guard(storedSecret) };
}

/** A database that, once deposed, finds nothing and takes no writes, as a primary does that was frozen meanwhile. */
export function deposable(db: Db) {
  let isDeposed = false;
  const collection = (name: string) =>
    new Proxy(db.collection(name), {
      get(target, member) {
        if (isDeposed && member === 'findOne') return async () => null;
        if (isDeposed && member === 'find') return () => ({ toArray: async () => [] });
        if (isDeposed && member === 'updateOne') return async () => Promise.reject(new UnavailableError('deposed'));
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const proxy = new Proxy(db, {
    get: (target, member) => (member === 'collection' ? collection : Reflect.get(target, member, target)),
  });
  return {
    db: proxy,
    depose(now = true) {
      isDeposed = now;
    },
  };
}

/** A database whose primary answers finds with `silence` from `begin` on; secondaries still answer. */
export function withoutPrimary(db: Db, silence: () => Promise<void>) {
  let isAway = false;
  const preferences: string[] = [];
  const collection = (name: string) =>
    new Proxy(db.collection(name), {
      get(target, member) {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        if (!isAway || member !== 'find') return value.bind(target);
        return (filter: object, options: { readPreference?: ReadPreferenceMode } = {}) => {
          const { readPreference = 'primary' } = options;
          preferences.push(readPreference);
          const found = target.find(filter, options);
          return readPreference === 'secondaryPreferred' ? found : { toArray: silence };
        };
      },
    });
  const wrapped = new Proxy(db, {
    get(target, member) {
      if (member === 'collection') return collection;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const begin = () => {
    isAway = true;
  };
  return { db: wrapped, preferences, begin };
}
