/** Which collections and indexes exist, on disk and in memory, and what of dropped ones is still to be swept. */
import { randomUUID } from 'node:crypto';
import { Binary, deserialize } from 'bson';
import { RESTORE_HINT, StoreDamaged } from '../../supervisor/store-check.js';
import { encode } from '../bson/encode.js';
import { CommandError } from '../errors.js';
import { opened, sealed } from './checksummed.js';
import type { Collection, Marks } from './collection.js';
import { type Index, openIndex } from './definition.js';
import { Sweeper } from './key-sweeper.js';
import { CATALOG, catalogKey, countKey, GARBAGE, garbageKey, namespaceOf, spaceHead, spaceOf } from './layout.js';
import { Store } from './store.js';

/** How a collection stands in the catalog. */
interface Entry {
  readonly space: number;
  readonly uuid: Binary;
  readonly longIds: boolean;
  readonly indexes: readonly {
    readonly space: number;
    readonly specification: Binary;
    readonly multikey: readonly boolean[];
    readonly long: boolean;
  }[];
}

export class Catalog implements Marks {
  readonly collections = new Map<string, Collection>();
  readonly store: Store;
  readonly #counted = new Set<Collection>();
  readonly #widened = new Set<Collection>();
  readonly #sweeper: Sweeper;
  #nextSpace = 1;

  constructor(directory: string, onFatal: (error: Error) => void) {
    this.store = new Store(directory, {
      onFatal,
      beforeCommit: () => this.#writeMarks(),
      afterFlush: () => this.#settle(),
      onRollBack: () => this.#rollBack(),
    });
    for (const { key, value } of this.store.entries(CATALOG)) {
      const entry = opened(key, value);
      if (!entry) throw new StoreDamaged(`the list of collections in ${directory} is damaged: ${RESTORE_HINT}`);
      this.#open(namespaceOf(key), entry);
    }
    const dropped = [...this.store.keys(GARBAGE)].map(spaceOf);
    this.#nextSpace = Math.max(this.#nextSpace, ...dropped.map((space) => space + 1));
    this.#sweeper = new Sweeper(this.store);
    this.#sweeper.add(dropped);
  }

  #open(namespace: string, value: Buffer): void {
    const entry = deserialize(value, { promoteBuffers: false }) as Entry;
    const count = this.store.get(countKey(entry.space))?.readDoubleLE(0) ?? 0;
    this.collections.set(namespace, {
      space: entry.space,
      head: spaceHead(entry.space),
      uuid: Buffer.from(entry.uuid.buffer),
      namespace,
      indexes: entry.indexes.map((index) => openIndex(Buffer.from(index.specification.buffer), index)),
      count,
      flushedCount: count,
      dropped: false,
      longIds: entry.longIds,
    });
    this.#nextSpace = Math.max(this.#nextSpace, entry.space + 1, ...entry.indexes.map(({ space }) => space + 1));
  }

  find(namespace: string): Collection | undefined {
    return this.collections.get(namespace);
  }

  /** Nothing was ever stored. */
  isNew(): boolean {
    return this.#nextSpace === 1;
  }

  takeSpace(): number {
    return this.#nextSpace++;
  }

  counted(collection: Collection): void {
    this.#counted.add(collection);
  }

  widened(collection: Collection): void {
    this.#widened.add(collection);
  }

  /** Makes the collection unless it is there. */
  async ensure(namespace: string): Promise<Collection> {
    const there = this.find(namespace);
    if (there) return there;
    await this.create(namespace);
    return this.ensure(namespace);
  }

  /** Whether the collection was made, and not there already. */
  async create(namespace: string): Promise<boolean> {
    const space = this.takeSpace();
    const fresh: Collection = {
      space,
      head: spaceHead(space),
      uuid: Buffer.from(randomUUID().replaceAll('-', ''), 'hex'),
      namespace,
      indexes: [],
      count: 0,
      flushedCount: 0,
      dropped: false,
      longIds: false,
    };
    let made = false;
    await this.store.write(
      () => {
        made = !this.find(namespace);
        if (made) this.#put(fresh, fresh.indexes);
        return true;
      },
      () => {
        if (made) this.collections.set(namespace, fresh);
      },
    );
    return made;
  }

  /** Removes a collection; its keys are swept later. Errors: 26 when another has been quicker. */
  async drop(collection: Collection): Promise<void> {
    await this.store.write(
      () => {
        if (collection.dropped) throw new CommandError(26, 'ns not found');
        this.store.remove(catalogKey(collection.namespace));
        this.#discard(collection);
        return true;
      },
      () => {
        this.collections.delete(collection.namespace);
        this.#forget(collection);
      },
    );
  }

  /** Removes an index; its keys are swept later. */
  async dropIndexes(collection: Collection, indexes: readonly Index[]): Promise<void> {
    const left = () => collection.indexes.filter((index) => !indexes.includes(index));
    await this.store.write(
      () => {
        if (collection.dropped) throw new CommandError(26, 'ns not found');
        this.#put(collection, left());
        for (const index of indexes) this.store.put(garbageKey(index.space), EMPTY);
        return true;
      },
      () => {
        collection.indexes = left();
        this.#sweeper.add(indexes.map(({ space }) => space));
      },
    );
  }

  /** From now on writers keep these indexes; until `finishIndexes` a restart would sweep them. */
  async startIndexes(collection: Collection, indexes: readonly Index[]): Promise<void> {
    await this.store.write(
      () => {
        if (collection.dropped) throw new CommandError(26, 'ns not found');
        for (const index of indexes) this.store.put(garbageKey(index.space), EMPTY);
        return true;
      },
      () => {
        collection.indexes = [...collection.indexes, ...indexes];
      },
    );
  }

  /** The indexes are complete: readers may use them. */
  async finishIndexes(collection: Collection, indexes: readonly Index[]): Promise<void> {
    await this.store.write(
      () => {
        if (collection.dropped) throw new CommandError(26, 'ns not found');
        this.#put(collection, collection.indexes, indexes);
        for (const index of indexes) this.store.remove(garbageKey(index.space));
        return true;
      },
      () => {
        for (const index of indexes) index.ready = true;
      },
    );
  }

  /** A build has failed: nobody keeps these indexes any longer. */
  abandonIndexes(collection: Collection, indexes: readonly Index[]): void {
    collection.indexes = collection.indexes.filter((index) => !indexes.includes(index));
    this.#sweeper.add(indexes.map(({ space }) => space));
  }

  #put(collection: Collection, indexes: readonly Index[], finished: readonly Index[] = []): void {
    const kept = indexes.filter((index) => index.ready || finished.includes(index));
    const entry: Entry = {
      space: collection.space,
      uuid: new Binary(collection.uuid, Binary.SUBTYPE_UUID),
      longIds: collection.longIds,
      indexes: kept.map(({ space, specification, multikey, long }) => ({
        space,
        specification: new Binary(specification),
        multikey,
        long,
      })),
    };
    const key = catalogKey(collection.namespace);
    this.store.put(key, sealed(key, encode(entry)));
  }

  #discard(collection: Collection): void {
    this.store.remove(countKey(collection.space));
    for (const space of spacesOf(collection)) this.store.put(garbageKey(space), EMPTY);
  }

  #forget(collection: Collection): void {
    collection.dropped = true;
    this.#sweeper.add(spacesOf(collection));
  }

  #writeMarks(): void {
    for (const collection of this.#widened) if (!collection.dropped) this.#put(collection, collection.indexes);
    for (const collection of this.#counted) {
      const count = Buffer.alloc(8);
      count.writeDoubleLE(collection.count);
      if (!collection.dropped) this.store.put(countKey(collection.space), count);
    }
  }

  /** What was marked is on disk now. */
  #settle(): void {
    for (const collection of this.#counted) collection.flushedCount = collection.count;
    this.#widened.clear();
    this.#counted.clear();
  }

  /** Counts go back to the last flush. Collections that were widened stay so, which the next transaction stores. */
  #rollBack(): void {
    for (const collection of this.#counted) collection.count = collection.flushedCount;
    this.#counted.clear();
  }

  /** Goes on removing what is left of dropped collections, where the store has refused that before. */
  sweep(): void {
    this.#sweeper.add([]);
  }

  async close(): Promise<void> {
    await this.#sweeper.close();
    await this.store.close();
  }
}

const EMPTY = Buffer.alloc(0);

const spacesOf = (collection: Collection): number[] => [
  collection.space,
  ...collection.indexes.map(({ space }) => space),
];

/** The name of a namespace's database and of its collection. */
export function splitNamespace(namespace: string): [database: string, collection: string] {
  const dot = namespace.indexOf('.');
  return [namespace.slice(0, dot), namespace.slice(dot + 1)];
}
