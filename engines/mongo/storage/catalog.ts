/** Catalog of collections and indexes, on disk and in memory; tracks dropped ones until their keys are removed. */
import { randomUUID } from 'node:crypto';
import { Binary, deserialize } from 'bson';
import { RESTORE_HINT, StoreDamaged } from '../../supervisor/store-check.js';
import { encode } from '../bson/encode.js';
import { CommandError } from '../errors.js';
import { addChecksum, verifyChecksum } from './checksummed.js';
import type { ChangeTracker, Collection } from './collection.js';
import { type Index, openIndex } from './definition.js';
import { KeySweeper } from './key-sweeper.js';
import { CATALOG, catalogKey, countKey, GARBAGE, garbageKey, namespaceOf, spaceHead, spaceOf } from './layout.js';
import { Store } from './store.js';

/** Stored form of a collection. */
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

export class Catalog implements ChangeTracker {
  readonly collections = new Map<string, Collection>();
  readonly store: Store;
  readonly #countChanged = new Set<Collection>();
  readonly #definitionChanged = new Set<Collection>();
  readonly #sweeper: KeySweeper;
  #nextSpace = 1;

  constructor(directory: string, onFatal: (error: Error) => void) {
    this.store = new Store(directory, {
      onFatal,
      beforeCommit: () => this.#writeChanges(),
      afterFlush: () => this.#onFlushed(),
      onRollBack: () => this.#onRolledBack(),
    });
    for (const { key, value } of this.store.entries(CATALOG)) {
      const entry = verifyChecksum(key, value);
      if (!entry) throw new StoreDamaged(`the list of collections in ${directory} is damaged: ${RESTORE_HINT}`);
      this.#open(namespaceOf(key), entry);
    }
    const dropped = [...this.store.keys(GARBAGE)].map(spaceOf);
    this.#nextSpace = Math.max(this.#nextSpace, ...dropped.map((space) => space + 1));
    this.#sweeper = new KeySweeper(this.store);
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

  /** True if nothing has ever been stored. */
  isNew(): boolean {
    return this.#nextSpace === 1;
  }

  takeSpace(): number {
    return this.#nextSpace++;
  }

  countChanged(collection: Collection): void {
    this.#countChanged.add(collection);
  }

  definitionChanged(collection: Collection): void {
    this.#definitionChanged.add(collection);
  }

  /** Creates the collection unless it exists. */
  async ensure(namespace: string): Promise<Collection> {
    const existing = this.find(namespace);
    if (existing) return existing;
    await this.create(namespace);
    return this.ensure(namespace);
  }

  /** Creates the collection; returns false if it exists already. */
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
    let created = false;
    await this.store.write(
      () => {
        created = !this.find(namespace);
        if (created) this.#put(fresh, fresh.indexes);
        return true;
      },
      () => {
        if (created) this.collections.set(namespace, fresh);
      },
    );
    return created;
  }

  /** Drops a collection; its keys are removed later. Errors: 26 if it was dropped meanwhile. */
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
        this.#onDropped(collection);
      },
    );
  }

  /** Registers indexes to be maintained by writers. Until `finishIndexes`, a restart discards them. */
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

  /** Marks indexes as complete, so that readers may use them. */
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

  /** Discards indexes after a failed build. */
  abandonIndexes(collection: Collection, indexes: readonly Index[]): void {
    collection.indexes = collection.indexes.filter((index) => !indexes.includes(index));
    this.#sweeper.add(indexes.map(({ space }) => space));
  }

  #put(collection: Collection, indexes: readonly Index[], finished: readonly Index[] = []): void {
    const stored = indexes.filter((index) => index.ready || finished.includes(index));
    const entry: Entry = {
      space: collection.space,
      uuid: new Binary(collection.uuid, Binary.SUBTYPE_UUID),
      longIds: collection.longIds,
      indexes: stored.map(({ space, specification, multikey, long }) => ({
        space,
        specification: new Binary(specification),
        multikey,
        long,
      })),
    };
    const key = catalogKey(collection.namespace);
    this.store.put(key, addChecksum(key, encode(entry)));
  }

  #discard(collection: Collection): void {
    this.store.remove(countKey(collection.space));
    for (const space of spacesOf(collection)) this.store.put(garbageKey(space), EMPTY);
  }

  #onDropped(collection: Collection): void {
    collection.dropped = true;
    this.#sweeper.add(spacesOf(collection));
  }

  #writeChanges(): void {
    for (const collection of this.#definitionChanged)
      if (!collection.dropped) this.#put(collection, collection.indexes);
    for (const collection of this.#countChanged) {
      const count = Buffer.alloc(8);
      count.writeDoubleLE(collection.count);
      if (!collection.dropped) this.store.put(countKey(collection.space), count);
    }
  }

  /** The tracked changes are on disk. */
  #onFlushed(): void {
    for (const collection of this.#countChanged) collection.flushedCount = collection.count;
    this.#definitionChanged.clear();
    this.#countChanged.clear();
  }

  /** Resets counts to the last flush. Changed index definitions stay; the next transaction stores them. */
  #onRolledBack(): void {
    for (const collection of this.#countChanged) collection.count = collection.flushedCount;
    this.#countChanged.clear();
  }

  /** Resumes removing the keys of dropped collections after the store refused it. */
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

/** Splits a namespace into database and collection. */
export function splitNamespace(namespace: string): [database: string, collection: string] {
  const dot = namespace.indexOf('.');
  return [namespace.slice(0, dot), namespace.slice(dot + 1)];
}
