/** Rows of the served read models, and the collections they stand in. */
import { type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import type { Lease, Rows, Vault } from '../../application/ports.js';
import {
  type Build,
  type Builds,
  GONE_INDEX,
  type Row,
  type RowWrite,
  writesOf,
} from '../../projections/projection.js';

const DUPLICATE_KEY = 11000;
const NAMESPACE_NOT_FOUND = 26;
/** Between the name of a build and those of its parts; no build's own name has it. */
const PART = '.';

/** `served` names the collection of a projection that answers queries now. */
export function createRows(db: Db, served: (projection: string) => string | undefined): Rows {
  return {
    async find<Found>(projection: string, { filter, sort, limit }: Parameters<Rows['find']>[1]) {
      const collection = served(projection);
      if (!collection) return [];
      const cursor = db.collection<Row>(collection).find(filter);
      if (sort) cursor.sort({ ...sort });
      if (limit) cursor.limit(limit);
      const rows = await cursor.toArray();
      return rows.filter((row) => !row.gone) as readonly Row[] as readonly Found[];
    },
  };
}

export function createBuilds(db: Db, vault: Vault): Builds {
  const namesOf = async (prefix: string) => {
    const found = await db.listCollections({}, { nameOnly: true }).toArray();
    return found.map(({ name }) => name).filter((name) => name.startsWith(prefix));
  };

  const dropCollection = (name: string) =>
    db
      .collection(name)
      .drop()
      .then(() => {})
      .catch((error) => {
        if (error.code !== NAMESPACE_NOT_FOUND) throw error;
      });

  const buildOf = (build: string, lease?: Pick<Lease, 'assertHeld'>): Build => ({
    vault,
    collection: (part) => db.collection(build + PART + part),
    write: (part, writes) => write(db.collection<Row>(build + PART + part), writes, lease),
    parts: async () => (await namesOf(build + PART)).map((name) => name.slice(build.length + PART.length)),
    drop: (part) => dropCollection(build + PART + part),
  });

  return {
    async open(model, collection, lease) {
      if ('open' in model) return model.open(buildOf(collection, lease));
      const rows = db.collection<Row>(collection);
      await rows.createIndexes([...model.indexes, GONE_INDEX]);
      return (events) =>
        write(
          rows,
          events.flatMap((event) => writesOf(model, event)),
          lease,
        );
    },

    scan: (model, collection) =>
      'open' in model
        ? model.scan(buildOf(collection))
        : db
            .collection<Row>(collection)
            .find({ gone: { $exists: false } })
            .sort({ _id: 1 }),

    async list(prefix) {
      const names = await namesOf(prefix);
      return [...new Set(names.map((name) => name.split(PART, 1)[0] ?? name))];
    },

    async drop(collection) {
      for (const part of await namesOf(collection + PART)) await dropCollection(part);
      await dropCollection(collection);
    },
  };
}

async function write(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  let rest = writes;
  while (rest.length > 0) {
    lease?.assertHeld();
    try {
      await rows.bulkWrite([...rest], { ordered: true });
      return;
    } catch (error) {
      // A redelivered event: the row is newer than it, so the guard did not match and the upsert met the row.
      if (!(error instanceof MongoBulkWriteError) || error.code !== DUPLICATE_KEY) throw error;
      const [first] = [error.writeErrors].flat();
      rest = rest.slice((first?.index ?? 0) + 1);
    }
  }
}
