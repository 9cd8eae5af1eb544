/** Rows of the served read models, and the collections they stand in. */
import { BSON, type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import type { Lease, Rows, Vault } from '../../../application/ports/index.js';
import {
  assertBuildExists,
  type Build,
  type Builds,
  coalesceWrites,
  GONE_INDEX,
  guardOf,
  idOf,
  isUncertain,
  type Merged,
  type Row,
  type RowWrite,
  writesOf,
} from '../../../projections/kernel/index.js';
import { deleteInChunks, dropEmptyDeletes, WRITTEN_AT_ONCE } from './delete-rows.js';

const DUPLICATE_KEY = 11000;
const NAMESPACE_NOT_FOUND = 26;
const INDEX_OPTIONS_CONFLICT = 85;
const INDEX_KEY_SPECS_CONFLICT = 86;
/** Rows: each may be large. */
const MEASURED_AT_ONCE = 20;
/** Between the name of a build and those of its parts; no build's own name has it. */
const PART = '.';

/** `served` names the collection of a projection that answers queries now, as far as this node knows. */
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

  const collectionsOf = async (build: string) => [build, ...(await namesOf(build + PART))];

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
      const rows = db.collection<Row>(collection);
      // Where the rows are elsewhere too: by this one readers know that the build stands.
      if (!('open' in model) && model.indexes.length > 0) await rows.createIndexes([...model.indexes]);
      await rows.createIndexes([GONE_INDEX]).catch(unlessThere);
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
      return [...new Set(names.map((name) => name.split(PART, 1)[0] ?? name))];
    },

    async count(collection) {
      const names = await collectionsOf(collection);
      const counts = await Promise.all(names.map((name) => db.collection(name).estimatedDocumentCount()));
      return counts.reduce((sum, count) => sum + count, 0);
    },

    async bytes(collection, most) {
      let bytes = 0;
      for (const name of await collectionsOf(collection))
        for await (const row of db.collection(name).find({}, { batchSize: MEASURED_AT_ONCE })) {
          bytes += BSON.calculateObjectSize(row);
          if (bytes >= most) return bytes;
        }
      return bytes;
    },

    async drop(collection) {
      await dropCollection(collection);
      for (const part of await namesOf(collection + PART)) await dropCollection(part);
    },
  };
}

/** A build of before has that of all its rows, which does the same. */
function unlessThere(error: { readonly code?: unknown }): void {
  if (error.code !== INDEX_OPTIONS_CONFLICT && error.code !== INDEX_KEY_SPECS_CONFLICT) throw error;
}

/** In order, to the effect that each has once; what a batch does to one row goes in one write. */
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
    const some = upToUncertain(merged, from);
    from += some.length;
    lease?.assertHeld();
    try {
      const { matchedCount, upsertedCount } = await rows.bulkWrite(some.flatMap(({ write }) => inOneCall(write)));
      const missed = some.filter(isOfOne).length > matchedCount + upsertedCount;
      if (missed) await complete(rows, partsOf(some.filter(isUncertain)), lease);
    } catch (error) {
      const met = redelivered(error);
      const left = some.filter((each, index) => index >= met || isUncertain(each));
      await complete(rows, partsOf(left), lease);
    }
  }
}

const inOneCall = (write: RowWrite) => ('deletePieces' in write ? [] : [write]);

const partsOf = (merged: readonly Merged[]): RowWrite[] => merged.flatMap(({ parts }) => parts);

const isOfOne = ({ write }: Merged) => 'updateOne' in write || 'replaceOne' in write;

/**
 * From there on, until something may touch again what is not certain to be done by then. At least one. Rows that are made
 * come first, as no other write before theirs can be meant for them: a driver sends those of a kind in one message.
 */
function upToUncertain(merged: readonly Merged[], from: number): Merged[] {
  const uncertain = new Set<string | undefined>();
  let to = from;
  for (; to < merged.length && to - from < WRITTEN_AT_ONCE; to++) {
    const each = merged[to]!;
    const id = idOf(each.write);
    if ('deletePieces' in each.write) break;
    if (uncertain.size > 0 && (id === undefined || uncertain.has(id))) break;
    if (isUncertain(each)) uncertain.add(id);
  }
  const some = merged.slice(from, to);
  // A read model that writes by itself may delete without a guard: what it makes afterwards is to stay. With one it
  // does: what is made by a later event is not touched.
  if (some.some(({ write }) => 'deleteMany' in write && !guardOf(write))) return some;
  const [made, others] = [some.filter(isMade), some.filter((each) => !isMade(each))];
  return [...made, ...others];
}

const isMade = ({ write }: Merged) => 'insertOne' in write;

/** One by one, those that were not done before: it may be a part of what was meant to be one. */
async function complete(
  rows: Collection<Row>,
  writes: readonly RowWrite[],
  lease?: Pick<Lease, 'assertHeld'>,
): Promise<void> {
  for (let from = 0; from < writes.length; from += WRITTEN_AT_ONCE) {
    const some = writes.slice(from, from + WRITTEN_AT_ONCE);
    for (let left = await notDone(rows, some); left.length > 0; ) {
      lease?.assertHeld();
      try {
        await rows.bulkWrite(left.flatMap(inOneCall));
        break;
      } catch (error) {
        const behind = left.slice(redelivered(error));
        left = await notDone(rows, behind);
        // Its own row was not what it met.
        if (left[0] === behind[0]) throw error;
      }
    }
  }
}

/** Without those whose rows are newer. */
async function notDone(rows: Collection<Row>, writes: readonly RowWrite[]): Promise<RowWrite[]> {
  const _id = { $in: [...new Set(writes.map(idOf))].filter((id) => id !== undefined) };
  const found = await rows.find({ _id }).project<Pick<Row, '_id' | '_at'>>({ _at: 1 }).toArray();
  const at = new Map(found.map((row) => [row._id, row._at]));
  return writes.filter((each) => {
    const known = at.get(idOf(each) ?? '');
    // What makes a row has been done where there is one.
    return !known || !('insertOne' in each || guardOf(each)?.lessThanOrEqual(known));
  });
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
