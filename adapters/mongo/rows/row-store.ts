/** Stores rows of read models, one collection per build. */
import { type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import { createBoundedParallel } from '../../../application/concurrency/index.js';
import type { Lease, Rows, Vault } from '../../../application/ports/index.js';
import {
  assertBuildExists,
  type Build,
  type Builds,
  GONE_INDEX,
  type Pieces,
  type Row,
  type RowWrite,
  writesOf,
} from '../../../projections/kernel/index.js';
import { coalesceWrites, guardOf, idOf, type Merged } from './coalesce-writes.js';

const DUPLICATE_KEY = 11000;
const NAMESPACE_NOT_FOUND = 26;
/** Rows per write: takes a fraction of a call's deadline, so that other calls are not delayed. */
const CHUNK_ROWS = 1000;
/** Maximum number of concurrent writes to a build without readers: the driver encodes one during the other. */
const PARALLEL_CHUNKS = 2;
/** Separates the name of a build from that of a part; build names do not contain it. */
const PART_SEPARATOR = '.';

/** Creates the row reader. `served` returns the collection of a projection's active build, if this node knows it. */
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

  const buildOf = (build: string, options: WriteOptions = {}): Build => ({
    vault,
    collection: (part) => db.collection(build + PART_SEPARATOR + part),
    write: (part, writes) => write(db.collection<Row>(build + PART_SEPARATOR + part), writes, options),
    parts: async () =>
      (await namesOf(build + PART_SEPARATOR)).map((name) => name.slice(build.length + PART_SEPARATOR.length)),
    drop: (part) => dropCollection(build + PART_SEPARATOR + part),
  });

  return {
    async open(model, collection, lease, { isRead = true } = {}) {
      const options = { lease, parallel: isRead ? 1 : PARALLEL_CHUNKS };
      const rows = db.collection<Row>(collection);
      // Even if the rows are in parts: this collection shows readers that the build exists.
      await rows.createIndexes([...('open' in model ? [] : model.indexes), GONE_INDEX]);
      if ('open' in model) return model.open(buildOf(collection, options));
      return (events) =>
        write(
          rows,
          events.flatMap((event) => writesOf(model, event)),
          options,
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

interface WriteOptions {
  readonly lease?: Pick<Lease, 'assertHeld'>;
  /** Maximum number of concurrent writes; default 1. */
  readonly parallel?: number;
}

/**
 * Applies writes, each once and those to a row in order. Writes of a batch to the same row are coalesced; chunks of
 * different rows may be written concurrently.
 */
async function write(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  { lease, parallel: limit = 1 }: WriteOptions,
): Promise<void> {
  const merged = coalesceWrites(await dropEmptyDeletes(rows, writes));
  const parallel = createBoundedParallel(limit);
  const unfinished = new Set<string | undefined>();
  const finish = async () => {
    await parallel.finish();
    unfinished.clear();
  };
  try {
    for (let from = 0; from < merged.length; ) {
      const next = merged[from]!.write;
      if ('deletePieces' in next) {
        await finish();
        await deleteInChunks(rows, next, lease);
        from++;
        continue;
      }
      const batch = selectBatch(merged, from);
      from += batch.length;
      const ids = batch.map((each) => idOf(each.write));
      // A write without an id may affect any row.
      if (ids.includes(undefined) || unfinished.has(undefined) || ids.some((id) => unfinished.has(id))) await finish();
      for (const id of ids) unfinished.add(id);
      await parallel.start(() => writeBatch(rows, batch, lease));
    }
  } finally {
    await finish();
  }
}

async function writeBatch(
  rows: Collection<Row>,
  batch: readonly Merged[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  lease?.assertHeld();
  try {
    await rows.bulkWrite(batch.flatMap(({ write }) => bulkOperations(write)));
  } catch (error) {
    await complete(rows, batch.slice(collisionIndex(error)), lease);
  }
}

const bulkOperations = (write: RowWrite) => ('deletePieces' in write ? [] : [write]);

/** Selects the next writes up to a deletion in chunks. Inserts come first: the driver sends one kind per message. */
function selectBatch(merged: readonly Merged[], from: number): readonly Merged[] {
  const next = merged.slice(from, from + CHUNK_ROWS);
  const end = next.findIndex(({ write }) => 'deletePieces' in write);
  const batch = end < 0 ? next : next.slice(0, end);
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
  merged: readonly Merged[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  const writes = merged.flatMap(({ parts }) => parts);
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

/** Returns the index of the first write whose upsert collided with a newer row. Rethrows other errors. */
function collisionIndex(error: unknown): number {
  const errors = error instanceof MongoBulkWriteError ? [error.writeErrors].flat() : [];
  const [first] = errors;
  if (!first || errors.some(({ code }) => code !== DUPLICATE_KEY)) throw error;
  return first.index;
}

async function deleteInChunks(
  rows: Collection<Row>,
  { deletePieces: { filter } }: Pieces,
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  for (let deleted = CHUNK_ROWS; deleted === CHUNK_ROWS; ) {
    const found = await rows.find(filter).project<Pick<Row, '_id'>>({ _id: 1 }).limit(CHUNK_ROWS).toArray();
    lease?.assertHeld();
    await rows.deleteMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } });
    deleted = found.length;
  }
}

/**
 * Removes deletes by a field value that no row has. Most deleted things have no dependent rows, and each such
 * delete costs one or two calls and splits a batch of writes.
 */
async function dropEmptyDeletes(rows: Collection<Row>, writes: readonly RowWrite[]): Promise<readonly RowWrite[]> {
  const valuesByField = new Map<string, Set<string>>();
  for (const write of writes) {
    const { field, value } = deletedValue(write) ?? {};
    if (field && value) valuesByField.set(field, (valuesByField.get(field) ?? new Set()).add(value));
  }
  const existing = new Map<string, ReadonlySet<unknown>>();
  for (const [field, values] of valuesByField) {
    const found = values.size > 1 && (await findStored(rows, field, [...values]));
    const written = found && writtenValues(writes, field);
    if (written) existing.set(field, new Set([...found, ...written]));
  }
  return writes.filter((write) => {
    const { field, value } = deletedValue(write) ?? {};
    return field === undefined || existing.get(field)?.has(value) !== false;
  });
}

/** Returns field and value of a delete by one field; not by id, since an earlier write may create that row. */
function deletedValue(write: RowWrite): { readonly field: string; readonly value: string } | undefined {
  const { filter } = 'deletePieces' in write ? write.deletePieces : 'deleteMany' in write ? write.deleteMany : {};
  const [entry, ...others] = Object.entries(filter ?? {}).filter(([name]) => name !== '_at');
  if (!entry || others.length > 0 || entry[0] === '_id') return undefined;
  const [field, value] = entry;
  return typeof value === 'string' ? { field, value } : undefined;
}

/** Returns which of the values occur in stored rows; undefined if too many rows match to tell quickly. */
async function findStored(rows: Collection<Row>, field: string, values: readonly string[]) {
  const found = await rows
    .find({ [field]: { $in: values } })
    .project<Row>({ [field]: 1 })
    .limit(CHUNK_ROWS)
    .toArray();
  const all = found.map((row) => row[field]);
  return all.length < CHUNK_ROWS && all.every((value) => typeof value === 'string') ? all : undefined;
}

/** Returns the values that the batch itself writes to the field; undefined if it changes the field in another way. */
function writtenValues(writes: readonly RowWrite[], field: string): unknown[] | undefined {
  const written: unknown[] = [];
  for (const write of writes) {
    for (const [operator, fields] of operationsOf(write))
      for (const [path, value] of Object.entries(fields ?? {})) {
        if (path.split('.', 1)[0] !== field) continue;
        if (path !== field || typeof value !== 'string' || !SET_OPERATORS.has(operator)) return undefined;
        written.push(value);
      }
  }
  return written;
}

const SET_OPERATORS: ReadonlySet<string> = new Set(['$set', '$setOnInsert', '$unset']);

function operationsOf(write: RowWrite): [string, object][] {
  if ('insertOne' in write) return [['$set', write.insertOne.document]];
  if ('replaceOne' in write) return [['$set', write.replaceOne.replacement]];
  return 'updateOne' in write ? Object.entries(write.updateOne.update) : [];
}
