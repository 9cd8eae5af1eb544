/** Executes a plan in pages. Each page is read synchronously; between pages the collection may change. */
import { documentValue } from '../bson/value.js';
import { Candidate, type Collection, type Documents, documentKey, documentKeyOfEntry } from '../storage/collection.js';
import { isInSpan, type Span } from '../storage/insert-gap-cache.js';
import { storedKey } from '../storage/keys.js';
import type { Filter } from './filter.js';
import { compile, type Predicate } from './match.js';
import { type Plan, planFor } from './plan.js';
import type { SortField } from './sort.js';

export class Scan {
  readonly #documents: Documents;
  readonly #collection: Collection;
  readonly #plan: Plan;
  /** Documents already found, if an index may lead to one several times. */
  readonly #seen: Set<string> | undefined;
  #range = 0;
  #after: Buffer | undefined;
  /** Empty key range found by the current page. */
  #gap: Span | undefined;
  examined = 0;

  constructor(documents: Documents, collection: Collection, plan: Plan) {
    this.#documents = documents;
    this.#collection = collection;
    this.#plan = plan;
    this.#seen = plan.index?.multikey.includes(true) ? new Set() : undefined;
  }

  get done(): boolean {
    return this.#range >= (this.#plan.stage === 'IDHACK' ? this.#plan.points.length : this.#plan.ranges.length);
  }

  /** Reads about `size` keys and returns the documents they lead to. */
  next(size: number): Candidate[] {
    const matches: Candidate[] = [];
    let remaining = size;
    this.#gap = undefined;
    while (remaining > 0 && !this.done)
      remaining -= this.#plan.stage === 'IDHACK' ? this.#point(matches) : this.#page(matches, remaining);
    this.examined += size - remaining;
    return matches;
  }

  #point(matches: Candidate[]): number {
    const { points, reverse } = this.#plan;
    const point = points.at(reverse ? points.length - 1 - this.#range : this.#range);
    this.#range++;
    const key = documentKey(this.#collection, storedKey(point));
    if (this.#gap && isInSpan(this.#gap, key)) return 1;
    const document = this.#documents.at(this.#collection, key);
    if (document) matches.push(new Candidate(key, document));
    else if (!this.#collection.dropped) this.#gap = this.#documents.requireMissing(this.#collection, key);
    return 1;
  }

  #page(matches: Candidate[], limit: number): number {
    const { index, reverse } = this.#plan;
    const range = { ...this.#plan.ranges[this.#range]!, reverse, limit, after: this.#after };
    const { store } = this.#documents;
    let count = 0;
    if (!index) {
      for (const candidate of this.#documents.entries(this.#collection, range)) {
        count++;
        this.#after = candidate.key;
        matches.push(candidate);
      }
    } else {
      // Reads all keys first: reading documents would move the open cursor.
      const keys: Buffer[] = [];
      if (index.unique)
        for (const { key, value } of store.entries(range)) {
          this.#after = key;
          keys.push(documentKeyOfEntry(this.#collection, index, key, value));
        }
      else
        for (const key of store.keys(range)) {
          this.#after = key;
          keys.push(documentKeyOfEntry(this.#collection, index, key, key));
        }
      count = keys.length;
      for (const key of keys) if (!this.#isSeen(key)) this.#addIndexed(matches, key);
    }
    if (count < limit) {
      this.#range++;
      this.#after = undefined;
    }
    return Math.max(count, 1);
  }

  #isSeen(key: Buffer): boolean {
    if (!this.#seen) return false;
    const text = key.toString('latin1');
    if (this.#seen.has(text)) return true;
    this.#seen.add(text);
    return false;
  }

  #addIndexed(matches: Candidate[], key: Buffer): void {
    const document = this.#documents.indexed(this.#collection, key);
    if (document) matches.push(new Candidate(key, document));
  }
}

/** A parsed query that can be executed. */
export interface Query {
  readonly filter: Filter;
  readonly matches: Predicate;
  readonly sort: readonly SortField[];
}

export function queryOf(filter: Filter, sort: readonly SortField[] = []): Query {
  // Compiled on first use, because upserts often find no candidate.
  let compiled: Predicate | undefined;
  const matches: Predicate = (document) => {
    compiled ??= compile(filter);
    return compiled(document);
  };
  return { filter, matches, sort };
}

export const scanFor = (documents: Documents, collection: Collection, query: Query): [Scan, Plan] => {
  const plan = planFor(collection, query.filter, query.sort);
  return [new Scan(documents, collection, plan), plan];
};

export const matchesDocument = (query: Query, document: Buffer): boolean => query.matches(documentValue(document));
