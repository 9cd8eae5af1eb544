/** Finds documents to write: inside the transaction when that is quick, otherwise in slices outside it. */
import { documentValue } from '../bson/value.js';
import { type Query, scanFor } from '../query/scan.js';
import type { Candidate, Collection } from '../storage/collection.js';
import type { Engine } from './engine.js';
import { createYielder, type Deadline } from './search.js';

/** Maximum keys and milliseconds of a search inside a transaction. */
const MAX_KEYS = 256;
const MAX_MS = 12;
const PAGE = 128;

/** Finds all matches, or the first if `one`. Returns 'slow' if the budget does not suffice. */
export function findWithinBudget(
  engine: Engine,
  collection: Collection,
  query: Query,
  one: boolean,
): Candidate[] | 'slow' {
  const [scan, plan] = scanFor(engine.documents, collection, query);
  const found: Candidate[] = [];
  const until = performance.now() + MAX_MS;
  while (!scan.done) {
    for (const candidate of scan.next(one && plan.stage === 'IDHACK' ? 1 : one ? 8 : PAGE / 4)) {
      if (!query.matches(documentValue(candidate.document))) continue;
      found.push(candidate);
      if (one) return found;
    }
    if (!scan.done && (scan.examined >= MAX_KEYS || performance.now() > until)) return 'slow';
  }
  return found;
}

/**
 * Finds the `_id` keys of all matches, or of the first if `one`. The documents must be checked again, since they may
 * change meanwhile.
 */
export async function findInSlices(
  engine: Engine,
  collection: Collection,
  query: Query,
  one: boolean,
  deadline: Deadline | undefined,
): Promise<Buffer[]> {
  const [scan] = scanFor(engine.documents, collection, query);
  const idKeys: Buffer[] = [];
  const yieldIfDue = createYielder(deadline);
  while (!scan.done) {
    for (const { idKey, document } of scan.next(PAGE)) {
      const pause = yieldIfDue();
      if (pause) await pause;
      if (!query.matches(documentValue(document))) continue;
      idKeys.push(idKey);
      if (one) return idKeys;
    }
    deadline?.check();
  }
  return idKeys;
}
