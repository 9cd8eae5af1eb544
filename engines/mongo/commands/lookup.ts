/** Finding documents to write: at once inside a transaction when that is quick, else in turns outside it. */
import { documentValue } from '../bson/value.js';
import { type Query, scanFor } from '../query/scan.js';
import { Sorter, sortKey } from '../query/sort.js';
import { type Candidate, type Collection, idKeyOf, idOf } from '../storage/collection.js';
import type { Engine } from './engine.js';
import { type Deadline, pacer } from './search.js';

/** So many keys may be looked at, and for so long, inside a transaction before the search has to leave it. */
const BUDGET = 256;
const BUDGET_MS = 12;
const PAGE = 128;

/** All matches (or the first in order, for `one`), or 'slow' when the budget does not suffice. */
export function findNow(engine: Engine, collection: Collection, query: Query, one: boolean): Candidate[] | 'slow' {
  const [scan, plan] = scanFor(engine.documents, collection, query);
  const found: Candidate[] = [];
  const until = performance.now() + BUDGET_MS;
  while (!scan.done) {
    for (const candidate of scan.next(one && plan.stage === 'IDHACK' ? 1 : one ? 8 : PAGE / 4)) {
      if (!query.matches(documentValue(candidate.document))) continue;
      found.push(candidate);
      if (one && plan.sorted) return found.slice(0, 1);
    }
    if (!scan.done && (scan.examined >= BUDGET || performance.now() > until)) return 'slow';
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

/** The `_id` keys of all matches (or of the first in order), found in turns; they must be looked at again. */
export async function findSlowly(
  engine: Engine,
  collection: Collection,
  query: Query,
  one: boolean,
  deadline: Deadline | undefined,
): Promise<Buffer[]> {
  const [scan, plan] = scanFor(engine.documents, collection, query);
  const idKeys: Buffer[] = [];
  const sorter = one && !plan.sorted ? new Sorter(query.sort, 1) : undefined;
  const pace = pacer(deadline);
  while (!scan.done) {
    for (const { idKey, document } of scan.next(PAGE)) {
      const pause = pace();
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
