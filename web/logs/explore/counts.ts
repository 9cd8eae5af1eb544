/** Counts of the current query by level, producer, event and time, as the service gives them. */
import { batch, signal } from '@preact/signals';
import { isTemporary } from '../../shared/api/http.js';
import { fetchCounts, type Selection } from '../api/queries.js';
import type { Bucket, Counts } from '../contract.js';
import type { Filter } from '../query/filter.js';
import { barsOf, closedBounds, intervalText, type Scale, scaleOf } from '../time/bars.js';
import { ERROR_LEVELS, WARNING_LEVELS } from './levels.js';

export interface Histogram {
  readonly scale: Scale;
  readonly totals: readonly number[];
  readonly errors: readonly number[];
  readonly warnings: readonly number[];
}

export type FacetName = 'level' | 'producer' | 'event';

export interface Facet {
  readonly counts?: Counts;
  readonly error?: unknown;
}

export const FACET_VALUES = 50;
const MAX_BUCKETS = 1000;
const HOUR_MS = 3_600_000;

export const histogram = signal<Histogram | undefined>(undefined);
export const histogramError = signal<unknown>(undefined);
/** Records that match; undefined until they are counted. */
export const total = signal<number | undefined>(undefined);
export const facets = signal<{ readonly [name in FacetName]?: Facet }>({});
/** The selection that was counted last; facets of fields count in it. */
export const counted = signal<Selection | undefined>(undefined);

/** Facets are counted only while they are in view. */
const areFacetsOpen = signal(true);

let controller = new AbortController();

/**
 * Counts everything anew; what was counted before stays until it is replaced.
 *
 * @param isRefresh The same query was counted before; its counts stay if this fails.
 */
export async function count(selection: Selection, now: number, isRefresh: boolean): Promise<void> {
  controller.abort();
  controller = new AbortController();
  const { signal: aborted } = controller;
  batch(() => {
    counted.value = selection;
    if (!areFacetsOpen.peek()) facets.value = {};
  });
  await Promise.all([countTime(selection, now, aborted, isRefresh), countFacets(isRefresh)]);
}

/** Counts the facets of the selection that was counted last. */
async function countFacets(isRefresh = false): Promise<void> {
  const selection = counted.peek();
  if (!selection || !areFacetsOpen.peek()) return;
  const { signal: aborted } = controller;
  await Promise.all(
    (['level', 'producer', 'event'] as const).map((name) => countFacet(selection, name, aborted, isRefresh)),
  );
}

/** Says whether facets are in view; counts them if they were not yet. */
export function showFacets(isOpen: boolean): void {
  areFacetsOpen.value = isOpen;
  if (isOpen && facets.peek().level === undefined) void countFacets();
}

/** Without the conditions of the facet itself, so that its other values can be chosen. */
export function withoutOwn(filter: Filter, name: FacetName): Filter {
  const { event, producer, not, ...rest } = filter;
  return {
    ...rest,
    not,
    ...(event !== undefined && name !== 'event' && { event }),
    ...(producer !== undefined && name !== 'producer' && { producer }),
    ...(name === 'level' && { levels: [] }),
  };
}

async function countFacet(
  { filter, bounds }: Selection,
  name: FacetName,
  aborted: AbortSignal,
  isRefresh: boolean,
): Promise<void> {
  let facet: Facet;
  try {
    const selection = { filter: withoutOwn(filter, name), bounds };
    facet = { counts: await fetchCounts(selection, { groupBy: name }, FACET_VALUES, aborted) };
  } catch (error) {
    if (isRefresh && facets.peek()[name]?.counts) return;
    facet = { error };
  }
  if (!aborted.aborted) facets.value = { ...facets.value, [name]: facet };
}

async function countTime(selection: Selection, now: number, aborted: AbortSignal, isRefresh: boolean): Promise<void> {
  try {
    const found = await histogramOf(selection, now, aborted);
    if (aborted.aborted) return;
    batch(() => {
      histogram.value = found.histogram;
      total.value = found.total;
      histogramError.value = undefined;
    });
  } catch (error) {
    if (aborted.aborted || (isRefresh && histogram.peek())) return;
    batch(() => {
      histogram.value = undefined;
      total.value = undefined;
      histogramError.value = error;
    });
  }
}

async function histogramOf(selection: Selection, now: number, aborted: AbortSignal) {
  const { bounds } = selection;
  const isClosed = bounds.from !== undefined;
  const days = isClosed ? undefined : await bucketsOf(selection, 24 * HOUR_MS, aborted);
  const closed = closedBounds(bounds, days?.buckets ?? [], now);
  const counts = (atLeastMs: number) => countBars(selection, scaleOf(closed, atLeastMs), aborted);
  const found = await counts(0).catch((error: unknown) => {
    if (aborted.aborted || !isTemporary(error) || !isCountedByHours(selection.filter)) throw error;
    return counts(HOUR_MS);
  });
  return found;
}

/** The service keeps counts of whole hours, which can be had where narrow bars take too long. */
const isCountedByHours = ({ correlation, fields, words, not }: Filter) =>
  correlation === undefined && fields.length === 0 && words.length === 0 && not.fields.length === 0;

async function countBars(selection: Selection, scale: Scale, aborted: AbortSignal) {
  const all = await bucketsOf(selection, scale.intervalMs, aborted);
  const [errors, warnings] = await Promise.all(
    [ERROR_LEVELS, WARNING_LEVELS].map((levels) => bucketsOfLevels(selection, levels, scale, all, aborted)),
  );
  return {
    total: all.total,
    histogram: {
      scale,
      totals: barsOf(all.buckets, scale),
      errors: barsOf(errors ?? [], scale),
      warnings: barsOf(warnings ?? [], scale),
    },
  };
}

const bucketsOf = (selection: Selection, intervalMs: number, aborted: AbortSignal) =>
  fetchCounts(selection, { groupBy: 'time', interval: intervalText(intervalMs) }, MAX_BUCKETS, aborted);

/** Those of the query's levels that are in the group; nothing is asked where there are none. */
async function bucketsOfLevels(
  { filter, bounds }: Selection,
  group: readonly string[],
  scale: Scale,
  all: Counts,
  aborted: AbortSignal,
): Promise<readonly Bucket[]> {
  const selected = filter.levels.length > 0 ? filter.levels.filter((level) => group.includes(level)) : group;
  const levels = selected.filter((level) => !filter.not.levels.includes(level));
  if (levels.length === 0 || all.total === 0) return [];
  if (filter.levels.length > 0 && levels.length === filter.levels.length) return all.buckets;
  const { buckets } = await bucketsOf({ filter: { ...filter, levels }, bounds }, scale.intervalMs, aborted);
  return buckets;
}
