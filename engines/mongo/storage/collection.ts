/** Documents and their index entries: one insert, replace or remove touches exactly the keys that change. */
import { join, NULL } from '../bson/encode.js';
import { compoundKey, END, keyOf } from '../bson/key.js';
import { show } from '../bson/print.js';
import { documentValue, fieldNamed, fieldsOf, identical, type Value } from '../bson/value.js';
import { CommandError, damaged } from '../errors.js';
import { opened, sealed } from './checksummed.js';
import type { Index } from './definition.js';
import { type Gap, isInGap, type Span } from './insert-gap-cache.js';
import { entriesOf, isLong, MOST_ENTRIES, storedKey } from './keys.js';
import { spaceEnd } from './layout.js';
import type { KeyRange, Store } from './store.js';

/** A collection as the writers know it. */
export interface Collection {
  readonly space: number;
  readonly head: Buffer;
  readonly uuid: Buffer;
  namespace: string;
  indexes: readonly Index[];
  /** Documents, as of the running transaction, and as of the last flush. */
  count: number;
  flushedCount: number;
  dropped: boolean;
  /** Whether any `_id` was too long to be stored whole as a key; such keys are not in order. */
  longIds: boolean;
}

/** What a write must tell the catalog about. */
export interface Marks {
  /** The count of documents changed. */
  counted(collection: Collection): void;
  /** An index has become multikey or long, or the ids have. */
  widened(collection: Collection): void;
}

const ID = Buffer.from('_id');

export const idOf = (document: Value): Value => fieldNamed(document, ID)!;

/** The part of a document's key, and of its index entries, that stands for its `_id`. */
export const idKeyOf = (id: Value): Buffer => storedKey(keyOf(id));

export function documentKey({ head }: Collection, idKey: Buffer): Buffer {
  const key = Buffer.allocUnsafe(head.length + idKey.length);
  head.copy(key, 0);
  idKey.copy(key, head.length);
  return key;
}

/** The key of the document that an index entry, given by its key and value, leads to. */
export function documentKeyOfEntry(collection: Collection, index: Index, key: Buffer, value: Buffer): Buffer {
  if (index.unique) return documentKey(collection, value);
  const { head } = collection;
  const end = key.length - 2;
  const length = key.readUInt16BE(end);
  if (length > end - head.length) throw damaged(collection.namespace);
  const whole = Buffer.allocUnsafe(head.length + length);
  head.copy(whole, 0);
  key.copy(whole, head.length, end - length, end);
  return whole;
}

/** A document where it was found. */
export class Candidate {
  constructor(
    readonly key: Buffer,
    readonly document: Buffer,
  ) {}

  /** The part of the key that stands for the `_id`; made only when something is to be written. */
  get idKey(): Buffer {
    return this.key.subarray(HEAD_LENGTH);
  }
}

const HEAD_LENGTH = 5;

/** One entry: the fields' part decides about uniqueness, the whole is the key. */
interface Entry {
  readonly key: Buffer;
  readonly row: readonly (Value | undefined)[];
}

export class Documents {
  #gap: Gap<Collection> | undefined;

  constructor(
    readonly store: Store,
    readonly marks: Marks,
  ) {}

  /** Errors: 301, as all that reads. */
  get(collection: Collection, idKey: Buffer): Buffer | undefined {
    return this.at(collection, documentKey(collection, idKey));
  }

  /** The document of a key. */
  at(collection: Collection, key: Buffer): Buffer | undefined {
    const value = this.store.get(key);
    return value && whole(collection, key, value);
  }

  /**
   * Nothing is stored under the key, and nothing damaged stands beside it: whoever is led astray by a damaged key ends
   * next to it, or out of order. The answer is the gap it lies in, unless that was found before. Errors: 301.
   */
  requireMissing(collection: Collection, key: Buffer): Span | undefined {
    const { transaction } = this.store;
    if (isInGap(this.#gap, { transaction, collection }, key)) return undefined;
    const { head } = collection;
    const below = this.#beside(collection, key, { low: head, high: key, reverse: true, limit: 1 });
    const above = this.#beside(collection, key, { low: key, high: spaceEnd(head), limit: 1 });
    this.#gap = { transaction, collection, below, above };
    return this.#gap;
  }

  /** The key of the document next to `key`, on the side that the range takes. */
  #beside(collection: Collection, key: Buffer, range: KeyRange): Buffer | undefined {
    const found = this.store.first(range);
    if (!found) return undefined;
    whole(collection, found.key, found.value);
    if (Buffer.compare(found.key, key) > 0 === (range.reverse === true)) throw damaged(collection.namespace);
    return found.key;
  }

  /** The document of a key that an index has led to, found in the same snapshot. */
  indexed(collection: Collection, key: Buffer): Buffer | undefined {
    const document = this.at(collection, key);
    // What was dropped meanwhile is swept in no order.
    if (!document && !collection.dropped) throw damaged(collection.namespace);
    return document;
  }

  /** Documents in the order of their keys. */
  *entries(collection: Collection, range: KeyRange): Generator<Candidate> {
    for (const { key, value } of this.store.entries(range)) yield new Candidate(key, whole(collection, key, value));
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
    this.store.put(key, sealed(key, document));
    if (!collection.longIds && isLong(keyOf(id))) {
      collection.longIds = true;
      this.marks.widened(collection);
    }
    collection.indexes.forEach((index, i) => {
      this.#putEntries(index, added[i]!, idKey);
    });
    collection.count++;
    this.marks.counted(collection);
  }

  /** Puts `after` in the place of `before`, which has the same `_id`. Errors: as `insert`. */
  replace(collection: Collection, idKey: Buffer, before: Buffer, after: Buffer): void {
    const [old, fresh] = [documentValue(before), documentValue(after)];
    const changes = collection.indexes
      .filter((index) => mayDiffer(index, old, fresh))
      .map((index) => {
        const removed = this.#entries(collection, index, old, idKey, Number.POSITIVE_INFINITY);
        const added = this.#entries(collection, index, fresh, idKey);
        const changed = { index, added: without(added, removed), removed: without(removed, added) };
        this.#requireUnique(collection, index, changed.added, idKey);
        return changed;
      });
    const key = documentKey(collection, idKey);
    this.store.put(key, sealed(key, after));
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
    this.marks.counted(collection);
  }

  /** Adds a document that is stored already to an index under construction. Errors: 11000, 171, 201. */
  enter(collection: Collection, index: Index, document: Buffer): void {
    const value = documentValue(document);
    const idKey = idKeyOf(idOf(value));
    const entries = this.#entries(collection, index, value, idKey);
    this.#requireUnique(collection, index, entries, idKey);
    this.#putEntries(index, entries, idKey);
  }

  #entries(collection: Collection, index: Index, document: Value, idKey: Buffer, most = MOST_ENTRIES): Entry[] {
    if (index.partial && !index.partial.matches(document)) return [];
    const { rows, multikey } = entriesOf(document, index.paths, most);
    let widened = false;
    multikey.forEach((through, i) => {
      if (through && !index.multikey[i]) index.multikey[i] = widened = true;
    });
    const entries: Entry[] = [];
    for (const row of rows) {
      if (index.sparse && row.every((value) => value === undefined)) continue;
      const fields = compoundKey(index.head, row, index.directions);
      if (isLong(fields) && !index.long) index.long = widened = true;
      const key = entryKey(index, storedKey(fields), idKey);
      entries.push({ key, row });
    }
    if (widened) this.marks.widened(collection);
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

/** Whether a change may have touched an index's entries; told by the bytes of the fields its paths begin with. */
function mayDiffer(index: Index, before: Value, after: Value): boolean {
  if (index.partial) return true;
  return index.paths.some(({ parts }) => {
    const [old, fresh] = [fieldNamed(before, parts[0]!.bytes), fieldNamed(after, parts[0]!.bytes)];
    return old && fresh ? !identical(old, fresh) : old !== fresh;
  });
}

const textOfKey = ({ key }: Entry): string => key.toString('latin1');

const distinct = (entries: readonly Entry[]): Entry[] => [
  ...new Map(entries.map((entry) => [textOfKey(entry), entry])).values(),
];

/** The entries whose keys are not among those of `others`. */
function without(entries: readonly Entry[], others: readonly Entry[]): Entry[] {
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

function whole(collection: Collection, key: Buffer, value: Buffer): Buffer {
  const document = opened(key, value);
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
