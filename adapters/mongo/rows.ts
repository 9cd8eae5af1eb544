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

/** What a store does in a fraction of a call's deadline, and what does not keep it long from everything else. */
const WRITTEN_AT_ONCE = 1000;

async function write(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  let met = false;
  for (let from = 0; from < writes.length; ) {
    // In order, each that was done before would be met by itself, and all behind it sent again.
    const some = met ? ofDifferentRows(writes, from) : writes.slice(from, from + WRITTEN_AT_ONCE);
    const ordered = !met;
    lease?.assertHeld();
    try {
      await rows.bulkWrite(some, { ordered });
      from += some.length;
      met = false;
    } catch (error) {
      const first = redelivered(error);
      from += ordered ? first + 1 : some.length;
      met = true;
    }
  }
}

/**
 * The first of the writes whose row is newer than their event: the guard did not match, and the upsert met the row.
 * Throws what is anything else.
 */
function redelivered(error: unknown): number {
  const errors = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  const [first] = errors;
  if (!first || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return first.index;
}

/** From there on, until one touches a row again that one before it does, or perhaps does. At least one. */
function ofDifferentRows(writes: readonly RowWrite[], from: number): RowWrite[] {
  const ids = new Set<unknown>();
  let to = from;
  for (; to < writes.length && to - from < WRITTEN_AT_ONCE; to++) {
    const id = idOf(writes[to]!);
    if (id === undefined || ids.has(id)) break;
    ids.add(id);
  }
  return writes.slice(from, Math.max(to, from + 1));
}

/** Undefined for what may touch many rows. */
function idOf(write: RowWrite): unknown {
  if ('updateOne' in write) return write.updateOne.filter._id;
  if ('replaceOne' in write) return write.replaceOne.filter._id;
  return 'deleteOne' in write ? write.deleteOne.filter._id : undefined;
}
