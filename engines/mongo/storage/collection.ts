/** Stores documents and their index entries; each insert, replace or remove touches only keys that change. */
import { join, NULL } from '../bson/encode.js';
import { compoundKey, END, keyOf } from '../bson/key.js';
import { show } from '../bson/print.js';
import { documentValue, fieldNamed, fieldsOf, identical, type Value } from '../bson/value.js';
import { CommandError, damaged } from '../errors.js';
import { addChecksum, verifyChecksum } from './checksummed.js';
import type { Index } from './definition.js';
import { type Gap, isInGap, type Span } from './insert-gap-cache.js';
import { entriesOf, isLong, MAX_ENTRIES, storedKey } from './keys.js';
import { spaceEnd } from './layout.js';
import type { KeyRange, Store } from './store.js';

/** A collection as seen by writers. */
export interface Collection {
  readonly space: number;
  readonly head: Buffer;
  readonly uuid: Buffer;
  namespace: string;
  indexes: readonly Index[];
  /** Number of documents as of the running transaction, and as of the last flush. */
  count: number;
  flushedCount: number;
  dropped: boolean;
  /** True if any `_id` was too long to be stored whole as a key; such keys are not in order. */
  longIds: boolean;
}

/** Collects what a transaction must update in the catalog. */
export interface ChangeTracker {
  /** The number of documents changed. */
  countChanged(collection: Collection): void;
  /** An index became multikey or long, or the ids became long. */
  definitionChanged(collection: Collection): void;
}

const ID = Buffer.from('_id');

export const idOf = (document: Value): Value => fieldNamed(document, ID)!;

/** Part of a document's key and index entries that represents its `_id`. */
export const idKeyOf = (id: Value): Buffer => storedKey(keyOf(id));

export function documentKey({ head }: Collection, idKey: Buffer): Buffer {
  const key = Buffer.allocUnsafe(head.length + idKey.length);
  head.copy(key, 0);
  idKey.copy(key, head.length);
  return key;
}

/** Key of the document that an index entry leads to. */
export function documentKeyOfEntry(collection: Collection, index: Index, key: Buffer, value: Buffer): Buffer {
  if (index.unique) return documentKey(collection, value);
  const { head } = collection;
  const end = key.length - 2;
  const length = key.readUInt16BE(end);
  if (length > end - head.length) throw damaged(collection.namespace);
  const verifiedDocument = Buffer.allocUnsafe(head.length + length);
  head.copy(verifiedDocument, 0);
  key.copy(verifiedDocument, head.length, end - length, end);
  return verifiedDocument;
}

/** A document with its key. */
export class Candidate {
  constructor(
    readonly key: Buffer,
    readonly document: Buffer,
  ) {}

  /** Part of the key that represents the `_id`; extracted only for writes. */
  get idKey(): Buffer {
    return this.key.subarray(HEAD_LENGTH);
  }
}

const HEAD_LENGTH = 5;

/** An index entry: its key and the values of the indexed fields. */
interface Entry {
  readonly key: Buffer;
  readonly row: readonly (Value | undefined)[];
}

export class Documents {
  #gap: Gap<Collection> | undefined;

  constructor(
    readonly store: Store,
    readonly changes: ChangeTracker,
  ) {}

  /** Errors: 301, as for every read. */
  get(collection: Collection, idKey: Buffer): Buffer | undefined {
    return this.at(collection, documentKey(collection, idKey));
  }

  /** Returns the document of a key. */
  at(collection: Collection, key: Buffer): Buffer | undefined {
    const value = this.store.get(key);
    return value && verifiedDocument(collection, key, value);
  }

  /**
   * Verifies that nothing is stored under the key. A damaged key misleads the search only next to itself, so both
   * neighbours must be intact and in order. Returns the gap between them, unless it is already cached. Errors: 301.
   */
  requireMissing(collection: Collection, key: Buffer): Span | undefined {
    const { transaction } = this.store;
    if (isInGap(this.#gap, { transaction, collection }, key)) return undefined;
    const { head } = collection;
    const below = this.#neighbour(collection, key, { low: head, high: key, reverse: true, limit: 1 });
    const above = this.#neighbour(collection, key, { low: key, high: spaceEnd(head), limit: 1 });
    this.#gap = { transaction, collection, below, above };
    return this.#gap;
  }

  /** Key of the neighbouring document on the side covered by the range. */
  #neighbour(collection: Collection, key: Buffer, range: KeyRange): Buffer | undefined {
    const found = this.store.first(range);
    if (!found) return undefined;
    verifiedDocument(collection, found.key, found.value);
    if (Buffer.compare(found.key, key) > 0 === (range.reverse === true)) throw damaged(collection.namespace);
    return found.key;
  }

  /** Returns the document that an index entry of the same snapshot leads to. */
  indexed(collection: Collection, key: Buffer): Buffer | undefined {
    const document = this.at(collection, key);
    // The keys of a dropped collection are removed in no particular order.
    if (!document && !collection.dropped) throw damaged(collection.namespace);
    return document;
  }

  /** Documents in key order. */
  *entries(collection: Collection, range: KeyRange): Generator<Candidate> {
    for (const { key, value } of this.store.entries(range))
      yield new Candidate(key, verifiedDocument(collection, key, value));
  }

  /** Errors: 11000, 171, 201; nothing is written then. */
  insert(collection: Collection, document: Buffer): void {
    const value = documentValue(document);
    const id = idOf(value);
    const idKey = idKeyOf(id);
    const key = documentKey(collection, idKey);
    if (this.store.has(key)) throw duplicateId(collection, id);
    const added = collection.indexes.map((index) => this.#entries(collection, index, value, idKey));
    collection.indexes.forEach((index, i) => {
      this.#requireUnique(collection, index, added[i]!, idKey);
    });
    this.store.put(key, addChecksum(key, document));
    if (!collection.longIds && isLong(keyOf(id))) {
      collection.longIds = true;
      this.changes.definitionChanged(collection);
    }
    collection.indexes.forEach((index, i) => {
      this.#putEntries(index, added[i]!, idKey);
    });
    collection.count++;
    this.changes.countChanged(collection);
  }

  /** Replaces `before` by `after`, which has the same `_id`. Errors: as `insert`. */
  replace(collection: Collection, idKey: Buffer, before: Buffer, after: Buffer): void {
    const [old, fresh] = [documentValue(before), documentValue(after)];
    const changes = collection.indexes
      .filter((index) => mayDiffer(index, old, fresh))
      .map((index) => {
        const removed = this.#entries(collection, index, old, idKey, Number.POSITIVE_INFINITY);
        const added = this.#entries(collection, index, fresh, idKey);
        const changed = { index, added: difference(added, removed), removed: difference(removed, added) };
        this.#requireUnique(collection, index, changed.added, idKey);
        return changed;
      });
    const key = documentKey(collection, idKey);
    this.store.put(key, addChecksum(key, after));
    for (const { index, added, removed } of changes) {
      for (const { key } of removed) this.store.remove(key);
      this.#putEntries(index, added, idKey);
    }
  }

  remove(collection: Collection, idKey: Buffer, document: Buffer): void {
    this.store.remove(documentKey(collection, idKey));
    const value = documentValue(document);
    for (const index of collection.indexes)
      for (const { key } of this.#entries(collection, index, value, idKey, Number.POSITIVE_INFINITY))
        this.store.remove(key);
    collection.count--;
    this.changes.countChanged(collection);
  }

  /** Adds a stored document to an index under construction. Errors: 11000, 171, 201. */
  addToIndex(collection: Collection, index: Index, document: Buffer): void {
    const value = documentValue(document);
    const idKey = idKeyOf(idOf(value));
    const entries = this.#entries(collection, index, value, idKey);
    this.#requireUnique(collection, index, entries, idKey);
    this.#putEntries(index, entries, idKey);
  }

  #entries(collection: Collection, index: Index, document: Value, idKey: Buffer, maxEntries = MAX_ENTRIES): Entry[] {
    const { rows, multikey } = entriesOf(document, index.paths, maxEntries);
    let definitionChanged = false;
    multikey.forEach((viaArray, i) => {
      if (viaArray && !index.multikey[i]) index.multikey[i] = definitionChanged = true;
    });
    const entries: Entry[] = [];
    for (const row of rows) {
      if (index.sparse && row.every((value) => value === undefined)) continue;
      const fields = compoundKey(index.head, row, index.directions);
      if (isLong(fields) && !index.long) index.long = definitionChanged = true;
      const key = entryKey(index, storedKey(fields), idKey);
      entries.push({ key, row });
    }
    if (definitionChanged) this.changes.definitionChanged(collection);
    return entries.length > 1 ? distinct(entries) : entries;
  }

  #requireUnique(collection: Collection, index: Index, entries: readonly Entry[], idKey: Buffer): void {
    if (!index.unique) return;
    for (const { key, row } of entries) {
      const owner = this.store.get(key);
      if (owner && !owner.equals(idKey)) throw duplicateKey(collection, index, row);
    }
  }

  #putEntries(index: Index, entries: readonly Entry[], idKey: Buffer): void {
    const value = index.unique ? idKey : NOTHING;
    for (const { key } of entries) this.store.put(key, value);
  }
}

/** True if a change may affect an index's entries; compares the top-level fields of its paths. */
function mayDiffer(index: Index, before: Value, after: Value): boolean {
  return index.paths.some(({ parts }) => {
    const [old, fresh] = [fieldNamed(before, parts[0]!.bytes), fieldNamed(after, parts[0]!.bytes)];
    return old && fresh ? !identical(old, fresh) : old !== fresh;
  });
}

const textOfKey = ({ key }: Entry): string => key.toString('latin1');

const distinct = (entries: readonly Entry[]): Entry[] => [
  ...new Map(entries.map((entry) => [textOfKey(entry), entry])).values(),
];

/** Entries with keys that are not among those of `others`. */
function difference(entries: readonly Entry[], others: readonly Entry[]): Entry[] {
  const keys = new Set(others.map(textOfKey));
  return entries.filter((entry) => !keys.has(textOfKey(entry)));
}

const NOTHING = Buffer.alloc(0);

function entryKey(index: Index, fields: Buffer, idKey: Buffer): Buffer {
  if (index.unique) return Buffer.concat([fields, END]);
  const key = Buffer.allocUnsafe(fields.length + idKey.length + 2);
  fields.copy(key, 0);
  idKey.copy(key, fields.length);
  key.writeUInt16BE(idKey.length, key.length - 2);
  return key;
}

function verifiedDocument(collection: Collection, key: Buffer, value: Buffer): Buffer {
  const document = verifyChecksum(key, value);
  if (!document) throw damaged(collection.namespace);
  return document;
}

function duplicateId(collection: Collection, id: Value): CommandError {
  const pattern = documentValue(ID_PATTERN);
  return duplicate(collection, '_id_', pattern, documentValue(join([['_id', id]])));
}

function duplicateKey(collection: Collection, index: Index, row: readonly (Value | undefined)[]): CommandError {
  const values = fieldsOf(index.key).map((field, i) => [field.name, row[i] ?? NULL] as const);
  return duplicate(collection, index.name, index.key, documentValue(join(values)));
}

function duplicate(collection: Collection, name: string, keyPattern: Value, keyValue: Value): CommandError {
  const message = `E11000 duplicate key error collection: ${collection.namespace} index: ${name} dup key: ${show(keyValue)}`;
  return new CommandError(11000, message, { keyPattern, keyValue });
}

/** `{ _id: 1 }` with an int32. */
export const ID_PATTERN = Buffer.from([14, 0, 0, 0, 16, 95, 105, 100, 0, 1, 0, 0, 0, 0]);
