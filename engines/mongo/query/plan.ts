/** Chooses an access path for a filter: documents by `_id`, a range of an index, or a full scan. */
import type { Collection } from '../storage/collection.js';
import type { Index } from '../storage/definition.js';
import { cutBound, isLong } from '../storage/keys.js';
import { spaceEnd } from '../storage/layout.js';
import { type Bounds, boundsOf, excludesMissing, type Requirements, requirementsOf, type Span } from './bounds.js';
import type { Filter } from './filter.js';
import { createKeySet, type KeySet } from './key-set.js';
import type { SortField } from './sort.js';

/** Keys from `low` (inclusive) to `high` (exclusive). */
export interface Range {
  readonly low: Buffer;
  readonly high: Buffer;
}

export interface Plan {
  readonly stage: 'IDHACK' | 'IXSCAN' | 'COLLSCAN';
  /** Undefined for the documents themselves, which are stored in the order of `_id`. */
  readonly index: Index | undefined;
  /** For IDHACK: the `_id`s as full keys. */
  readonly points: KeySet;
  readonly ranges: readonly Range[];
  readonly reverse: boolean;
  /** True if the plan yields matches in the requested order. */
  readonly sorted: boolean;
  /** Number of leading index fields with bounds. */
  readonly bounded: number;
}

interface Candidate {
  readonly index: Index | undefined;
  readonly head: Buffer;
  readonly names: readonly string[];
  readonly directions: readonly (1 | -1)[];
  readonly multikey: readonly boolean[];
  readonly ordered: boolean;
}

/** Maximum ranges. Each `$in` multiplies them; beyond this, further fields are left to the filter. */
const MAX_RANGES = 10_000;

/** Plans a query. */
export function planFor(collection: Collection, filter: Filter, sort: readonly SortField[]): Plan {
  const requirements = requirementsOf(filter);
  const byId = pointPlan(requirements, sort);
  if (byId) return byId;
  let best: Plan | undefined;
  let highest = 0;
  for (const candidate of candidatesOf(collection, requirements)) {
    const plan = rangePlan(candidate, requirements, sort);
    const score = scoreOf(plan, sort);
    if (score > highest) [best, highest] = [plan, score];
  }
  return best ?? fullScan(collection, sort);
}

function fullScan(collection: Collection, sort: readonly SortField[]): Plan {
  const ranges = [{ low: collection.head, high: spaceEnd(collection.head) }];
  const sorted = sort.length === 0;
  return {
    stage: 'COLLSCAN',
    index: undefined,
    points: NO_POINTS,
    ranges,
    reverse: false,
    sorted,
    bounded: 0,
  };
}

const NO_POINTS = createKeySet([]);
const listOf = (points: KeySet): Buffer[] => Array.from({ length: points.length }, (_, i) => points.at(i));

function pointPlan(requirements: Requirements, sort: readonly SortField[]): Plan | undefined {
  const bounds = boundsOf(requirements.get('_id') ?? [], false);
  if (!bounds || !('points' in bounds)) return undefined;
  const { points } = bounds;
  const byId = sort.length === 1 && sort[0]!.path.text === '_id' && !points.long;
  const sorted = sort.length === 0 || points.length <= 1 || byId;
  const reverse = byId && sort[0]!.direction < 0;
  return { stage: 'IDHACK', index: undefined, points, ranges: [], reverse, sorted, bounded: 1 };
}

const idCandidate = (collection: Collection): Candidate => ({
  index: undefined,
  head: collection.head,
  names: ['_id'],
  directions: [1],
  multikey: [false],
  ordered: !collection.longIds,
});

const candidate = (index: Index): Candidate => ({
  index,
  head: index.head,
  names: index.paths.map(({ text }) => text),
  directions: index.directions,
  multikey: index.multikey,
  ordered: !index.long && !index.multikey.includes(true),
});

function candidatesOf(collection: Collection, requirements: Requirements): Candidate[] {
  const usable = collection.indexes.filter((index) => {
    if (!index.ready) return false;
    if (!index.sparse) return true;
    return index.paths.some(({ text }) => requirements.get(text)?.some(excludesMissing));
  });
  return [idCandidate(collection), ...usable.map(candidate)];
}

function rangePlan(candidate: Candidate, requirements: Requirements, sort: readonly SortField[]): Plan {
  let prefixes = [candidate.head];
  let fixed = 0;
  let last: Bounds | undefined;
  let throughArray = false;
  for (const [i, name] of candidate.names.entries()) {
    const multikey = candidate.multikey[i]!;
    // Different array elements may meet conditions on two fields below arrays.
    if (multikey && throughArray) break;
    last = boundsOf(requirements.get(name) ?? [], multikey);
    if (!last || !('points' in last) || prefixes.length * last.points.length > MAX_RANGES) break;
    const points = listOf(last.points).map((point) => applyDirection(point, candidate.directions[i]!));
    if (candidate.directions[i]! < 0) points.reverse();
    prefixes = prefixes.flatMap((prefix) => points.map((point) => Buffer.concat([prefix, point])));
    throughArray ||= multikey;
    fixed++;
    last = undefined;
  }
  const span = last && 'span' in last ? last.span : undefined;
  const order = orderOf(candidate, sort, fixed, prefixes.length);
  const ranges = prefixes.map((prefix) =>
    span ? spanRange(prefix, span, candidate.directions[fixed]!) : prefixRange(prefix),
  );
  if (order === 'reverse') ranges.reverse();
  return {
    stage: 'IXSCAN',
    index: candidate.index,
    points: NO_POINTS,
    ranges,
    reverse: order === 'reverse',
    sorted: sort.length === 0 || order !== undefined,
    bounded: fixed + (span ? 1 : 0),
  };
}

/** Direction in which the index yields the requested order, or undefined. */
function orderOf(candidate: Candidate, sort: readonly SortField[], fixed: number, prefixes: number) {
  if (sort.length === 0 || !candidate.ordered) return undefined;
  const constant = prefixes === 1 ? candidate.names.slice(0, fixed) : [];
  const rest = sort.filter(({ path }) => !constant.includes(path.text));
  const from = prefixes === 1 ? fixed : 0;
  let reverse: boolean | undefined;
  for (const [i, { path, direction }] of rest.entries()) {
    if (candidate.names[from + i] !== path.text) return undefined;
    const isOpposite = direction !== candidate.directions[from + i];
    if (reverse !== undefined && reverse !== isOpposite) return undefined;
    reverse = isOpposite;
  }
  return reverse ? 'reverse' : 'forward';
}

function applyDirection(key: Buffer, direction: 1 | -1): Buffer {
  return direction > 0 ? key : Buffer.from(key.map((byte) => ~byte));
}

const AFTER = Buffer.of(0xff);
/** Bound after all keys that continue a complete value with the next one; a longer text sorts later. */
const afterKeysOf = (key: Buffer): Buffer => Buffer.concat([key, AFTER]);

/** Bound after all keys with this prefix. */
function afterPrefix(prefix: Buffer): Buffer {
  let length = prefix.length;
  while (prefix[length - 1] === 0xff) length--;
  const next = Buffer.from(prefix.subarray(0, length));
  next[length - 1]!++;
  return next;
}

function prefixRange(prefix: Buffer): Range {
  const low = cutBound(prefix);
  return { low, high: afterPrefix(low) };
}

function spanRange(prefix: Buffer, span: Span, direction: 1 | -1): Range {
  const low = Buffer.concat([prefix, applyDirection(direction > 0 ? span.low : span.high, direction)]);
  const high = Buffer.concat([prefix, applyDirection(direction > 0 ? span.high : span.low, direction)]);
  // Descending and truncated keys include both ends; the filter decides.
  if (direction < 0) return { low: cutBound(low), high: afterPrefix(cutBound(high)) };
  return {
    low: span.lowExclusive && !isLong(low) ? afterKeysOf(low) : cutBound(low),
    high: span.highInclusive || isLong(high) ? afterPrefix(cutBound(high)) : high,
  };
}

function scoreOf(plan: Plan, sort: readonly SortField[]): number {
  const sortedByIndex = sort.length > 0 && plan.sorted;
  if (plan.bounded === 0) return sortedByIndex ? 1 : 0;
  const { index } = plan;
  const exact = index?.unique && plan.bounded === index.paths.length && plan.ranges.length === 1 ? 50 : 0;
  return plan.bounded * 10 + (sortedByIndex ? 4 : 0) + exact;
}
