/** Finds documents to write: inside the transaction when that is quick, otherwise in slices outside it. */
import { documentValue } from '../bson/value.js';
import { type Query, scanFor } from '../query/scan.js';
import { Sorter, sortKey } from '../query/sort.js';
import { type Candidate, type Collection, idKeyOf, idOf } from '../storage/collection.js';
import type { Engine } from './engine.js';
import { createYielder, type Deadline } from './search.js';

/** Maximum keys and milliseconds of a search inside a transaction. */
const MAX_KEYS = 256;
const MAX_MS = 12;
const PAGE = 128;

/** Finds all matches, or the first in order if `one`. Returns 'slow' if the budget does not suffice. */
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
      if (one && plan.sorted) return found.slice(0, 1);
    }
    if (!scan.done && (scan.examined >= MAX_KEYS || performance.now() > until)) return 'slow';
  }
  return one ? firstOf(found, query) : found;
}

function firstOf(found: readonly Candidate[], query: Query): Candidate[] {
  let best: { candidate: Candidate; key: Buffer } | undefined;
  for (const candidate of found) {
    const key = sortKey(documentValue(candidate.document), query.sort);
    if (!best || Buffer.compare(key, best.key) < 0) best = { candidate, key };
  }
  return best ? [best.candidate] : [];
}

/**
 * Finds the `_id` keys of all matches, or of the first in order. The documents must be checked again, since they may
 * change meanwhile.
 */
export async function findInSlices(
  engine: Engine,
  collection: Collection,
  query: Query,
  one: boolean,
  deadline: Deadline | undefined,
): Promise<Buffer[]> {
  const [scan, plan] = scanFor(engine.documents, collection, query);
  const idKeys: Buffer[] = [];
  const sorter = one && !plan.sorted ? new Sorter(query.sort, 1) : undefined;
  const yieldIfDue = createYielder(deadline);
  while (!scan.done) {
    for (const { idKey, document } of scan.next(PAGE)) {
      const pause = yieldIfDue();
      if (pause) await pause;
      const value = documentValue(document);
      if (!query.matches(value)) continue;
      if (sorter) sorter.add(value);
      else idKeys.push(idKey);
      if (one && !sorter) return idKeys;
    }
    deadline?.check();
  }
  return sorter ? sorter.sorted().map((document) => idKeyOf(idOf(documentValue(document)))) : idKeys;
}
