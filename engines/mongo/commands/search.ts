/** Searches: the documents of a query one after another, with pauses in which others get their turn. */
import { documentValue } from '../bson/value.js';
import { CommandError } from '../errors.js';
import { type Projection, project } from '../query/projection.js';
import { type Query, type Scan, scanFor } from '../query/scan.js';
import { Sorter, type SortRoom } from '../query/sort.js';
import type { Collection, Documents } from '../storage/collection.js';
import type { Connection } from './request.js';

/** The largest sum of documents in one batch. */
const MAX_BATCH = 16 * 1024 * 1024;
const PAGE = 128;

/** What a search may not outlive: `check` throws 50 when the time of its command is up, 279 when its client has gone. */
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

/** How long a command may keep the event loop before others get a turn. */
const TURN_MS = 5;

/** A pause that is due, or nothing. Errors: those of the deadline. */
export type Pace = () => Promise<void> | undefined;

/** Lets other commands run once in a while: `await pace()` between documents, as each may have to be asked for much. */
export function pacer(deadline: Deadline | undefined): Pace {
  let until = performance.now() + TURN_MS;
  return () => {
    if (performance.now() < until) return undefined;
    deadline?.check();
    return new Promise((resolve) => {
      setImmediate(() => {
        until = performance.now() + TURN_MS;
        resolve();
      });
    });
  };
}

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

  constructor(
    documents: Documents,
    collection: Collection,
    query: Query,
    skip: number,
    limit: number,
    room?: SortRoom,
  ) {
    const [scan, plan] = scanFor(documents, collection, query);
    this.#scan = scan;
    this.#query = query;
    this.#skip = skip;
    this.#left = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    this.#sorter = plan.sorted ? undefined : new Sorter(query.sort, limit === 0 ? 0 : skip + limit, room);
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

  async take(count: number, deadline: Deadline, projection?: Projection): Promise<Buffer[]> {
    const taken: Buffer[] = [];
    const pace = pacer(deadline);
    let bytes = 0;
    if (this.#sorter && !this.#ready) await this.#sort(this.#sorter, deadline);
    while (taken.length < count && !this.done) {
      if (this.#at >= this.#found.length) {
        await this.#fill(Math.min(count - taken.length, this.#left) + this.#skip, pace);
        deadline.check();
        continue;
      }
      const document = this.#found[this.#at]!;
      if (this.#skip > 0) this.#skip--;
      else {
        // At once: of documents that are much larger than what is wanted of them, a batch would hold all.
        const wanted = project(projection, document);
        bytes += wanted.length;
        if (bytes > MAX_BATCH && taken.length > 0) break;
        taken.push(wanted);
        this.#left--;
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
    this.#found = [];
    this.#sorter.release();
  }

  /** Reads a page: no more than is wanted at first, more each time since the filter may let few through. */
  async #fill(wanted: number, pace: Pace): Promise<void> {
    this.#page = Math.min(PAGE, Math.max(wanted, this.#page * 2));
    const candidates = this.#scan.next(this.#page);
    this.#found = [];
    this.#at = 0;
    for (const { document } of candidates) {
      if (this.#query.matches(documentValue(document))) this.#found.push(document);
      const pause = pace();
      if (pause) await pause;
    }
  }

  async #sort(sorter: Sorter, deadline: Deadline): Promise<void> {
    const pace = pacer(deadline);
    while (!this.#scan.done) {
      for (const { document } of this.#scan.next(PAGE)) {
        const value = documentValue(document);
        if (this.#query.matches(value)) sorter.add(value);
        const pause = pace();
        if (pause) await pause;
      }
      deadline.check();
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
  /** It holds what no index gives in order. */
  readonly isSorting: boolean;
  /**
   * At most `count` documents, as the projection leaves them, of at most 16 MiB together (but one at least), fewer only
   * when there are no more.
   */
  take(count: number, deadline: Deadline, projection?: Projection): Promise<Buffer[]>;
  /** Nothing more is taken. */
  close(): void;
}

/** A list as if it were a search; nothing projects any. */
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
