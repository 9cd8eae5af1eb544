/** Stores rows of read models, one collection per build. */
import { type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import type { Lease, Rows, Vault } from '../../../application/ports/index.js';
import {
  assertBuildExists,
  type Build,
  type Builds,
  GONE_INDEX,
  type Row,
  type RowWrite,
  writesOf,
} from '../../../projections/kernel/index.js';
import { coalesceWrites, guardOf, idOf, isUncertain, type Merged } from './coalesce-writes.js';
import { CHUNK_ROWS, deleteInChunks, dropEmptyDeletes } from './delete-rows.js';

const DUPLICATE_KEY = 11000;
const NAMESPACE_NOT_FOUND = 26;
/** Separates the name of a build from that of a part; build names do not contain it. */
const PART_SEPARATOR = '.';

/**
 * Creates the row reader. `served` returns the collection of a projection's active build, as far as this node
 * knows.
 */
export function createRows(db: Db, served: (projection: string) => string | undefined): Rows {
  return {
    async find<Found>(projection: string, { filter, sort, limit }: Parameters<Rows['find']>[1]) {
      const collection = served(projection);
      if (!collection) return [];
      const cursor = db.collection<Row>(collection).find(filter);
      if (sort) cursor.sort({ ...sort });
      if (limit) cursor.limit(limit);
      const rows = await cursor.toArray();
      if (rows.length === 0) await assertBuildExists(db, collection);
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
    collection: (part) => db.collection(build + PART_SEPARATOR + part),
    write: (part, writes) => write(db.collection<Row>(build + PART_SEPARATOR + part), writes, lease),
    parts: async () =>
      (await namesOf(build + PART_SEPARATOR)).map((name) => name.slice(build.length + PART_SEPARATOR.length)),
    drop: (part) => dropCollection(build + PART_SEPARATOR + part),
  });

  return {
    async open(model, collection, lease) {
      const rows = db.collection<Row>(collection);
      // Even if the rows are in parts: this collection shows readers that the build exists.
      if (!('open' in model) && model.indexes.length > 0) await rows.createIndexes([...model.indexes]);
      await rows.createIndexes([GONE_INDEX]);
      if ('open' in model) return model.open(buildOf(collection, lease));
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
      return [...new Set(names.map((name) => name.split(PART_SEPARATOR, 1)[0] ?? name))];
    },

    async count(collection) {
      const names = [collection, ...(await namesOf(collection + PART_SEPARATOR))];
      const counts = await Promise.all(names.map((name) => db.collection(name).estimatedDocumentCount()));
      return counts.reduce((sum, count) => sum + count, 0);
    },

    async drop(collection) {
      await dropCollection(collection);
      for (const part of await namesOf(collection + PART_SEPARATOR)) await dropCollection(part);
    },
  };
}

/** Applies writes in order, each once. Writes of a batch to the same row are coalesced. */
async function write(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  const merged = coalesceWrites(await dropEmptyDeletes(rows, writes));
  for (let from = 0; from < merged.length; ) {
    const next = merged[from]!.write;
    if ('deletePieces' in next) {
      await deleteInChunks(rows, next, lease);
      from++;
      continue;
    }
    const batch = selectBatch(merged, from);
    from += batch.length;
    lease?.assertHeld();
    try {
      const { matchedCount, upsertedCount } = await rows.bulkWrite(batch.flatMap(({ write }) => bulkOperations(write)));
      const someMissed = batch.filter(affectsOneRow).length > matchedCount + upsertedCount;
      if (someMissed) await complete(rows, partsOf(batch.filter(isUncertain)), lease);
    } catch (error) {
      const collision = collisionIndex(error);
      const remaining = batch.filter((entry, index) => index >= collision || isUncertain(entry));
      await complete(rows, partsOf(remaining), lease);
    }
  }
}

const bulkOperations = (write: RowWrite) => ('deletePieces' in write ? [] : [write]);

const partsOf = (merged: readonly Merged[]): RowWrite[] => merged.flatMap(({ parts }) => parts);

const affectsOneRow = ({ write }: Merged) => 'updateOne' in write || 'replaceOne' in write;

/**
 * Selects writes from an index on, up to one that may depend on a write with uncertain effect; at least one.
 * Inserts come first, since no earlier write can concern their rows: the driver sends writes of one kind in one
 * message.
 */
function selectBatch(merged: readonly Merged[], from: number): Merged[] {
  const uncertain = new Set<string | undefined>();
  let to = from;
  for (; to < merged.length && to - from < CHUNK_ROWS; to++) {
    const entry = merged[to]!;
    const id = idOf(entry.write);
    if ('deletePieces' in entry.write) break;
    if (uncertain.size > 0 && (id === undefined || uncertain.has(id))) break;
    if (isUncertain(entry)) uncertain.add(id);
  }
  const batch = merged.slice(from, to);
  // An unguarded delete of a read model must not remove rows inserted after it. A guarded one skips rows of later
  // events.
  if (batch.some(({ write }) => 'deleteMany' in write && !guardOf(write))) return batch;
  const [inserts, others] = [batch.filter(isInsert), batch.filter((entry) => !isInsert(entry))];
  return [...inserts, ...others];
}

const isInsert = ({ write }: Merged) => 'insertOne' in write;

/** Applies the writes that are not in effect yet, one by one: coalesced writes may be partly done. */
async function complete(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  for (let from = 0; from < writes.length; from += CHUNK_ROWS) {
    const batch = writes.slice(from, from + CHUNK_ROWS);
    for (let remaining = await filterPending(rows, batch); remaining.length > 0; ) {
      lease?.assertHeld();
      try {
        await rows.bulkWrite(remaining.flatMap(bulkOperations));
        break;
      } catch (error) {
        const afterCollision = remaining.slice(collisionIndex(error));
        remaining = await filterPending(rows, afterCollision);
        // The collision was not with its own row.
        if (remaining[0] === afterCollision[0]) throw error;
      }
    }
  }
}

/** Returns the writes that are not in effect yet; those with a newer row are. */
async function filterPending(rows: Collection<Row>, writes: readonly RowWrite[]): Promise<RowWrite[]> {
  const _id = { $in: [...new Set(writes.map(idOf))].filter((id) => id !== undefined) };
  const found = await rows.find({ _id }).project<Pick<Row, '_id' | '_at'>>({ _at: 1 }).toArray();
  const positions = new Map(found.map((row) => [row._id, row._at]));
  return writes.filter((entry) => {
    const storedAt = positions.get(idOf(entry) ?? '');
    return !storedAt || !('insertOne' in entry || guardOf(entry)?.lessThanOrEqual(storedAt));
  });
}

/**
 * Returns the index of the first write with a row newer than its event: its guard did not match, and the upsert
 * collided with the row. Rethrows other errors.
 */
function collisionIndex(error: unknown): number {
  const errors = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  const [first] = errors;
  if (!first || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return first.index;
}
