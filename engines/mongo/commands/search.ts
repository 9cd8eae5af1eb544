/** Runs queries: yields documents in batches and regularly yields to the event loop. */
import { documentValue } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { type Projection, project } from '../query/projection.js';
import { type Query, type Scan, scanFor } from '../query/scan.js';
import { Sorter, type SortMemory } from '../query/sort.js';
import type { Collection, Documents } from '../storage/collection.js';
import type { Connection } from './request.js';

/** Maximum total bytes of documents in one batch. */
const MAX_BATCH = 16 * 1024 * 1024;
const PAGE = 128;

/** Limit of a search: `check` throws 50 on timeout and 279 if the client has disconnected. */
export interface Deadline {
  check(): void;
}

export const deadlineAfter = (milliseconds: number | undefined, client?: Pick<Connection, 'closed'>): Deadline => {
  const until = milliseconds ? performance.now() + milliseconds : Number.POSITIVE_INFINITY;
  return {
    check() {
      if (client?.closed) throw new CommandError(279, 'the client has gone');
      if (performance.now() > until) throw new CommandError(50, 'operation exceeded time limit');
    },
  };
};

/** Maximum milliseconds a command occupies the event loop. */
const SLICE_MS = 5;

/** Returns a promise if it is time to yield, otherwise undefined. Errors: those of the deadline. */
export type YieldIfDue = () => Promise<void> | undefined;

/**
 * Creates a function that lets other commands run from time to time. Call it between documents, because a single
 * document may be expensive.
 */
export function createYielder(deadline: Deadline | undefined): YieldIfDue {
  let until = performance.now() + SLICE_MS;
  return () => {
    if (performance.now() < until) return undefined;
    deadline?.check();
    return new Promise((resolve) => {
      setImmediate(() => {
        until = performance.now() + SLICE_MS;
        resolve();
      });
    });
  };
}

/** Documents of a query, in order, between `skip` and `limit` (0 = no limit). */
export class Search implements Source {
  readonly #scan: Scan;
  readonly #query: Query;
  readonly #sorter: Sorter | undefined;
  #matches: Buffer[] = [];
  #at = 0;
  #page = 1;
  #skip: number;
  #remaining: number;
  #ready: boolean;

  constructor(
    documents: Documents,
    collection: Collection,
    query: Query,
    skip: number,
    limit: number,
    memory: SortMemory,
  ) {
    const [scan, plan] = scanFor(documents, collection, query);
    this.#scan = scan;
    this.#query = query;
    this.#skip = skip;
    this.#remaining = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    this.#sorter = plan.sorted ? undefined : new Sorter(query.sort, limit === 0 ? 0 : skip + limit, memory);
    this.#ready = plan.sorted;
  }

  get satisfied(): boolean {
    return this.#remaining <= 0;
  }

  get done(): boolean {
    return (
      this.#remaining <= 0 ||
      (this.#ready && this.#at >= this.#matches.length && (this.#sorter !== undefined || this.#scan.done))
    );
  }

  async take(count: number, deadline: Deadline, projection?: Projection): Promise<Buffer[]> {
    const taken: Buffer[] = [];
    const yieldIfDue = createYielder(deadline);
    let bytes = 0;
    if (this.#sorter && !this.#ready) await this.#sort(this.#sorter, deadline);
    while (taken.length < count && !this.done) {
      if (this.#at >= this.#matches.length) {
        await this.#fill(Math.min(count - taken.length, this.#remaining) + this.#skip, yieldIfDue);
        deadline.check();
        continue;
      }
      const document = this.#matches[this.#at]!;
      if (this.#skip > 0) this.#skip--;
      else {
        // Projected immediately: a batch of large documents with a small projection would otherwise hold them all.
        const projected = project(projection, document);
        bytes += projected.length;
        if (bytes > MAX_BATCH && taken.length > 0) break;
        taken.push(projected);
        this.#remaining--;
      }
      this.#at++;
    }
    return taken;
  }

  get isSorting(): boolean {
    return this.#sorter !== undefined;
  }

  close(): void {
    if (!this.#sorter) return;
    this.#matches = [];
    this.#sorter.release();
  }

  /** Reads a page: `count` candidates at first, doubling each time, because the filter may pass few. */
  async #fill(count: number, yieldIfDue: YieldIfDue): Promise<void> {
    this.#page = Math.min(PAGE, Math.max(count, this.#page * 2));
    const candidates = this.#scan.next(this.#page);
    this.#matches = [];
    this.#at = 0;
    for (const { document } of candidates) {
      if (this.#query.matches(documentValue(document))) this.#matches.push(document);
      const pause = yieldIfDue();
      if (pause) await pause;
    }
  }

  async #sort(sorter: Sorter, deadline: Deadline): Promise<void> {
    const yieldIfDue = createYielder(deadline);
    while (!this.#scan.done) {
      for (const { document } of this.#scan.next(PAGE)) {
        const value = documentValue(document);
        if (this.#query.matches(value)) sorter.add(value);
        const pause = yieldIfDue();
        if (pause) await pause;
      }
      deadline.check();
    }
    this.#matches = sorter.sorted();
    this.#ready = true;
  }
}

/** Documents to be read in batches. */
export interface Source {
  /** True if no more documents follow. */
  readonly done: boolean;
  /** True if the limit is reached. */
  readonly satisfied: boolean;
  /** True if it holds documents for a sort in memory. */
  readonly isSorting: boolean;
  /**
   * Takes up to `count` projected documents of at most 16 MiB together, but at least one. Returns fewer only at the
   * end.
   */
  take(count: number, deadline: Deadline, projection?: Projection): Promise<Buffer[]>;
  /** Releases memory; nothing may be taken afterwards. */
  close(): void;
}

/** Source of a fixed list; ignores projections. */
export function listSource(documents: readonly Buffer[]): Source {
  let at = 0;
  return {
    get done() {
      return at >= documents.length;
    },
    satisfied: false,
    isSorting: false,
    async take(count) {
      const taken = documents.slice(at, at + count);
      at += taken.length;
      return taken;
    },
    close() {},
  };
}
