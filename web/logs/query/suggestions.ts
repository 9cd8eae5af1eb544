/** Completions at the caret: names, fields of the loaded records, and values as the service counts them. */
import { fetchCounts, type Grouping, type Selection } from '../api/queries.js';
import type { Bucket } from '../contract.js';
import { texts } from '../texts.js';
import { type Completed, type CompletionPoint, completeName, completeValue, rank } from './completion.js';
import { parseQuery } from './filter.js';
import { NAMES, type Term } from './syntax.js';

export interface Suggestion {
  readonly key: string;
  readonly label: string;
  /** What it is, or how many records have it. */
  readonly note: string;
  readonly complete: (text: string) => Completed;
}

const MAX_SUGGESTIONS = 12;
const MAX_VALUES = 200;
/** Milliseconds that counted values are used again. */
const FRESH_MS = 30_000;
const MISSING = '(missing)';
const AUDIT_VALUES = ['true', 'false'];

interface Cached {
  readonly at: number;
  readonly buckets: Promise<readonly Bucket[]>;
}
const cache = new Map<string, Cached>();

/** Names that start or continue with what was typed. */
export function suggestNames(point: CompletionPoint, fieldPaths: readonly string[]): readonly Suggestion[] {
  const own = NAMES.map((name) => ({ name: name as string, note: texts.query.names[name], isField: false }));
  const fields = fieldPaths
    .filter((path) => !own.some(({ name }) => name === path))
    .map((name) => ({ name, note: texts.query.field, isField: true }));
  return rank([...own, ...fields], ({ name }) => name, point.typed)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ name, note, isField }) => ({
      key: name,
      label: name,
      note,
      complete: (text) => completeName(text, point, name, isField),
    }));
}

/** Values of the term's name in records that match the rest of the text. */
export async function suggestValues(
  text: string,
  point: CompletionPoint,
  term: Term,
  bounds: Selection['bounds'],
  format: (count: number) => string,
): Promise<readonly Suggestion[]> {
  const grouping = groupingOf(term);
  const buckets = grouping
    ? await valuesOf(grouping, text, term, bounds)
    : AUDIT_VALUES.map((key) => ({ key, count: Number.NaN }));
  return rank(
    buckets.filter(({ key }) => key !== MISSING),
    ({ key }) => key,
    point.typed,
  )
    .slice(0, MAX_SUGGESTIONS)
    .map(({ key, count }) => ({
      key,
      label: key,
      note: Number.isNaN(count) ? '' : format(count),
      complete: (before) => completeValue(before, point, key),
    }));
}

function groupingOf({ kind, name }: Term): Grouping | undefined {
  if (kind === 'field') return { groupBy: 'field', groupField: name };
  return kind === 'audit' || kind === 'word' ? undefined : { groupBy: kind };
}

function valuesOf(grouping: Grouping, text: string, term: Term, bounds: Selection['bounds']) {
  const rest = text.slice(0, term.start) + text.slice(term.end);
  const parsed = parseQuery(rest);
  const filter = (parsed.problem === undefined ? parsed : parseQuery('')).filter;
  const key = JSON.stringify([grouping, filter, bounds.to, Math.round((bounds.from ?? 0) / FRESH_MS)]);
  const cached = cache.get(key);
  if (cached && Date.now() - cached.at < FRESH_MS) return cached.buckets;
  const buckets = fetchCounts({ filter, bounds }, grouping, MAX_VALUES).then(
    (counts) => counts.buckets,
    () => {
      // Without completions the query can still be typed; the next key tries again.
      cache.delete(key);
      return [];
    },
  );
  if (cache.size > 50) cache.clear();
  cache.set(key, { at: Date.now(), buckets });
  return buckets;
}
