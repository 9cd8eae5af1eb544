/** Reading in batches: a search that pauses between batches and pages, and the cursors that clients hold. */
import { Long } from 'bson';
import { join, type Named, toValue } from '../bson/make.js';
import { documentValue, Type } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { type Projection, project } from '../query/projection.js';
import { type Query, type Scan, scanFor } from '../query/scan.js';
import { Sorter } from '../query/sort.js';
import type { Collection } from '../storage/collection.js';
import { type Engine, pacer } from './engine.js';

/** The largest sum of documents in one batch. */
const MAX_BATCH = 16 * 1024 * 1024;
const PAGE = 128;

/** What a search may not outlive: `check` throws 50 when the time of its command is up. */
export interface Deadline {
  check(): void;
}

export const deadlineAfter = (milliseconds: number | undefined): Deadline => {
  const until = milliseconds ? performance.now() + milliseconds : Number.POSITIVE_INFINITY;
  return {
    check() {
      if (performance.now() > until) throw new CommandError(50, 'operation exceeded time limit');
    },
  };
};

/** The documents of a query one after another, in order, between `skip` and `limit` (0 = no limit). */
export class Search implements Source {
  readonly #scan: Scan;
  readonly #query: Query;
  readonly #sorter: Sorter | undefined;
  #found: Buffer[] = [];
  #at = 0;
  #page = 1;
  #skip: number;
  #left: number;
  #ready: boolean;

  constructor(engine: Engine, collection: Collection, query: Query, skip: number, limit: number) {
    const [scan, plan] = scanFor(engine.documents, collection, query);
    this.#scan = scan;
    this.#query = query;
    this.#skip = skip;
    this.#left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    this.#sorter = plan.sorted ? undefined : new Sorter(query.sort, limit === 0 ? 0 : skip + limit);
    this.#ready = plan.sorted;
  }

  get satisfied(): boolean {
    return this.#left <= 0;
  }

  get done(): boolean {
    return (
      this.#left <= 0 ||
      (this.#ready && this.#at >= this.#found.length && (this.#sorter !== undefined || this.#scan.done))
    );
  }

  /** At most `count` documents of at most 16 MiB together (but one at least), fewer only when there are no more. */
  async take(count: number, deadline: Deadline): Promise<Buffer[]> {
    const taken: Buffer[] = [];
    const pace = pacer();
    let bytes = 0;
    if (this.#sorter && !this.#ready) await this.#sort(this.#sorter, deadline);
    while (taken.length < count && !this.done) {
      if (this.#at >= this.#found.length) {
        this.#fill(Math.min(count - taken.length, this.#left) + this.#skip);
        deadline.check();
        const pause = pace();
        if (pause) await pause;
        continue;
      }
      const document = this.#found[this.#at]!;
      if (this.#skip > 0) this.#skip--;
      else {
        bytes += document.length;
        if (bytes > MAX_BATCH && taken.length > 0) break;
        taken.push(document);
        this.#left--;
      }
      this.#at++;
    }
    return taken;
  }

  /** Reads a page: no more than is wanted at first, more each time since the filter may let few through. */
  #fill(wanted: number): void {
    this.#page = Math.min(PAGE, Math.max(wanted, this.#page * 2));
    const candidates = this.#scan.next(this.#page);
    this.#found = [];
    this.#at = 0;
    for (const { document } of candidates)
      if (this.#query.matches(documentValue(document))) this.#found.push(document);
  }

  async #sort(sorter: Sorter, deadline: Deadline): Promise<void> {
    const pace = pacer();
    while (!this.#scan.done) {
      for (const { document } of this.#scan.next(PAGE)) {
        const value = documentValue(document);
        if (this.#query.matches(value)) sorter.add(value);
      }
      deadline.check();
      await pace();
    }
    this.#found = sorter.sorted();
    this.#ready = true;
  }
}

/** Documents to be taken in batches. */
export interface Source {
  /** Nothing more will come. */
  readonly done: boolean;
  /** As many have come as were ever asked for. */
  readonly satisfied: boolean;
  take(count: number, deadline: Deadline): Promise<Buffer[]>;
}

/** A batch that is full says nothing about what follows, unless the limit is reached. */
const staysOpen = (source: Source, full: boolean): boolean => (full ? !source.satisfied : !source.done);

/** A list as if it were a search. */
export function listSource(documents: readonly Buffer[]): Source {
  let at = 0;
  return {
    get done() {
      return at >= documents.length;
    },
    satisfied: false,
    async take(count) {
      const taken = documents.slice(at, at + count);
      at += taken.length;
      return taken;
    },
  };
}

interface Cursor {
  readonly id: bigint;
  readonly namespace: string;
  /** Absent for lists that outlive collections. */
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection: Projection | undefined;
  readonly keep: boolean;
  used: number;
  busy: boolean;
}

/** A cursor not asked for this long is forgotten. */
const FORGET_MS = 10 * 60_000;

export interface Opening {
  readonly namespace: string;
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection?: Projection | undefined;
  readonly batchSize: number;
  readonly single?: boolean;
  readonly keep?: boolean;
  readonly deadline: Deadline;
}

export class Cursors {
  readonly #open = new Map<bigint, Cursor>();
  /** Beyond an int32, so that no client may take ids for one. */
  #next = (BigInt(Date.now()) << 20n) | 1n;

  /** The answer with the first batch. A batch filled to the last document leaves the cursor open. */
  async first(opening: Opening): Promise<Buffer> {
    const { namespace, collection, source, projection, batchSize, deadline } = opening;
    const batch = await source.take(batchSize, deadline);
    const open = !opening.single && staysOpen(source, batch.length >= batchSize);
    const id = open ? this.#next++ : 0n;
    const keep = opening.keep ?? false;
    if (open)
      this.#open.set(id, {
        id,
        namespace,
        collection,
        source,
        projection,
        keep,
        used: Date.now(),
        busy: false,
      });
    return cursorAnswer('firstBatch', batch, id, namespace, projection);
  }

  /** The answer with the next batch. Errors: 43 unknown, 13 of another collection, 175 dropped, 12051 in use. */
  async more(
    id: bigint,
    namespace: string,
    batchSize: number | undefined,
    deadline: Deadline,
  ): Promise<Buffer> {
    const cursor = this.#open.get(id);
    if (!cursor) throw new CommandError(43, `cursor id ${id} not found`);
    if (cursor.namespace !== namespace)
      throw new CommandError(
        13,
        `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.namespace}`,
      );
    if (cursor.busy) throw new CommandError(12051, `cursor id ${id} is already in use`);
    if (cursor.collection?.dropped) {
      this.#open.delete(id);
      throw new CommandError(175, `collection dropped. UUID ${cursor.collection.uuid.toString('hex')}`);
    }
    cursor.busy = true;
    const count = batchSize ?? Number.POSITIVE_INFINITY;
    const batch = await cursor.source.take(count, deadline).finally(() => {
      cursor.busy = false;
      cursor.used = Date.now();
    });
    const open = staysOpen(cursor.source, batch.length >= count);
    if (!open) this.#open.delete(id);
    return cursorAnswer('nextBatch', batch, open ? id : 0n, namespace, cursor.projection);
  }

  /** Whether there was such a cursor. */
  kill(id: bigint): boolean {
    return this.#open.delete(id);
  }

  /** Forgets what has not been asked for in ten minutes. */
  sweep(now = Date.now()): void {
    for (const cursor of this.#open.values())
      if (!cursor.keep && !cursor.busy && now - cursor.used > FORGET_MS) this.#open.delete(cursor.id);
  }

  get size(): number {
    return this.#open.size;
  }
}

function cursorAnswer(
  field: string,
  batch: readonly Buffer[],
  id: bigint,
  namespace: string,
  projection: Projection | undefined,
): Buffer {
  const array = join(
    batch.map((document, i): Named => [String(i), documentValue(project(projection, document))]),
  );
  const cursor = join([
    [field, { type: Type.array, bytes: array, start: 0, end: array.length }],
    ['id', toValue(Long.fromBigInt(id))],
    ['ns', toValue(namespace)],
  ]);
  return join([['cursor', documentValue(cursor)]]);
}
