/** Rows of the served read models, and the collections they stand in. */
import { type Db, MongoBulkWriteError } from 'mongodb';
import type { Rows } from '../../application/ports.js';
import {
  type Builds,
  GONE_INDEX,
  type Projection,
  type Row,
  type RowWrite,
} from '../../projections/projection.js';

const DUPLICATE_KEY = 11000;
const NAMESPACE_NOT_FOUND = 26;

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

export function createBuilds(db: Db): Builds {
  return {
    async prepare({ indexes }: Projection, collection) {
      await db.collection(collection).createIndexes([...indexes, GONE_INDEX]);
    },

    async write(collection, writes) {
      let rest: readonly RowWrite[] = writes;
      while (rest.length > 0) {
        try {
          await db.collection<Row>(collection).bulkWrite([...rest], { ordered: true });
          return;
        } catch (error) {
          // A redelivered event: the row is newer than it, so the guard did not match and the upsert met the row.
          if (!(error instanceof MongoBulkWriteError) || error.code !== DUPLICATE_KEY) throw error;
          const [first] = [error.writeErrors].flat();
          rest = rest.slice((first?.index ?? 0) + 1);
        }
      }
    },

    scan: (collection) =>
      db
        .collection<Row>(collection)
        .find({ gone: { $exists: false } })
        .sort({ _id: 1 }),

    async list(prefix) {
      const found = await db.listCollections({}, { nameOnly: true }).toArray();
      return found.map(({ name }) => name).filter((name) => name.startsWith(prefix));
    },

    async drop(collection) {
      await db
        .collection(collection)
        .drop()
        .catch((error) => {
          if (error.code !== NAMESPACE_NOT_FOUND) throw error;
        });
    },
  };
}
