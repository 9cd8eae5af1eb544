/** Walks a plan in pages: each page is read at once, and between pages anything may happen to the collection. */

import { documentValue, type Value } from '../bson/value.js';
import { type Collection, type Documents, documentKey, idKeyOfEntry } from '../storage/collection.js';
import type { Filter } from './filter.js';
import { compile, type Predicate } from './match.js';
import { type Plan, planFor } from './plan.js';
import type { SortField } from './sort.js';

/** A document that may match. */
export interface Candidate {
  readonly idKey: Buffer;
  readonly document: Buffer;
}

export class Scan {
  readonly #documents: Documents;
  readonly #collection: Collection;
  readonly #plan: Plan;
  /** Documents met already, where an index may lead to one several times. */
  readonly #met: Set<string> | undefined;
  #range = 0;
  #after: Buffer | undefined;
  examined = 0;

  constructor(documents: Documents, collection: Collection, plan: Plan) {
    this.#documents = documents;
    this.#collection = collection;
    this.#plan = plan;
    this.#met = plan.index?.multikey.includes(true) ? new Set() : undefined;
  }

  get done(): boolean {
    return (
      this.#range >= (this.#plan.stage === 'IDHACK' ? this.#plan.points.length : this.#plan.ranges.length)
    );
  }

  /** Reads the next keys, about `size`, and returns the documents they lead to. */
  next(size: number): Candidate[] {
    const found: Candidate[] = [];
    let left = size;
    while (left > 0 && !this.done)
      left -= this.#plan.stage === 'IDHACK' ? this.#point(found) : this.#page(found, left);
    this.examined += size - left;
    return found;
  }

  #point(found: Candidate[]): number {
    const idKey = this.#plan.points[this.#range++]!;
    this.#add(found, idKey, this.#documents.get(this.#collection, idKey));
    return 1;
  }

  #page(found: Candidate[], limit: number): number {
    const { index, reverse } = this.#plan;
    const range = { ...this.#plan.ranges[this.#range]!, reverse, limit, after: this.#after };
    const { store } = this.#documents;
    let count = 0;
    if (!index) {
      for (const { key, value } of store.entries(range)) {
        count++;
        this.#after = key;
        found.push({ idKey: key.subarray(this.#collection.head.length), document: value });
      }
    } else {
      // All keys first: reading documents while a cursor is open would move it.
      const idKeys: Buffer[] = [];
      if (index.unique)
        for (const { key, value } of store.entries(range)) {
          this.#after = key;
          idKeys.push(value);
        }
      else
        for (const key of store.keys(range)) {
          this.#after = key;
          idKeys.push(idKeyOfEntry(index, key, key));
        }
      count = idKeys.length;
      for (const idKey of idKeys) this.#follow(found, idKey);
    }
    if (count < limit) {
      this.#range++;
      this.#after = undefined;
    }
    return Math.max(count, 1);
  }

  #follow(found: Candidate[], idKey: Buffer): void {
    if (this.#met) {
      const text = idKey.toString('latin1');
      if (this.#met.has(text)) return;
      this.#met.add(text);
    }
    this.#add(found, idKey, this.#documents.store.get(documentKey(this.#collection, idKey)));
  }

  #add(found: Candidate[], idKey: Buffer, document: Buffer | undefined): void {
    if (document) found.push({ idKey, document });
  }
}

/** A filter ready to be run. */
export interface Query {
  readonly filter: Filter;
  readonly matches: Predicate;
  readonly sort: readonly SortField[];
  readonly hint: Value | undefined;
}

export const queryOf = (filter: Filter, sort: readonly SortField[] = [], hint?: Value): Query => ({
  filter,
  matches: compile(filter),
  sort,
  hint,
});

export const scanFor = (documents: Documents, collection: Collection, query: Query): [Scan, Plan] => {
  const plan = planFor(collection, query.filter, query.sort, query.hint);
  return [new Scan(documents, collection, plan), plan];
};

export const matchesDocument = (query: Query, document: Buffer): boolean =>
  query.matches(documentValue(document));
