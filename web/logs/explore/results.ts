/** The records of the current query: first page, further pages, and new ones of the live tail. */
import { batch, signal } from '@preact/signals';
import { fetchPage, type Selection } from '../api/queries.js';
import type { Entry, Order } from '../contract.js';

const PAGE_RECORDS = 200;
/** Records held at most; the query must be narrowed to see others. */
export const MAX_RECORDS = 20_000;
/** Records held at most while live; the oldest go. */
export const MAX_LIVE_RECORDS = 5000;

type State = 'loading' | 'ready' | 'failed';

export const entries = signal<readonly Entry[]>([]);
export const state = signal<State>('loading');
export const failure = signal<unknown>(undefined);
export const hasMore = signal(false);
export const isLoadingMore = signal(false);
/** Where the next page starts. */
let cursor: string | undefined;
/** Query whose records are shown. */
let currentQuery: string | undefined;
let running: { readonly selection: Selection; readonly order: Order; readonly controller: AbortController } | undefined;

export const isCurrent = (query: string): boolean => query === currentQuery;

/**
 * Replaces the results by the first page, once it has come. Resolves with the position that the page reflects;
 * undefined when it failed or another query was started. If it fails, the records of the same query stay.
 *
 * @param query Equal for the same text, time range and order.
 */
export async function runQuery(selection: Selection, order: Order, query: string): Promise<string | undefined> {
  running?.controller.abort();
  const controller = new AbortController();
  running = { selection, order, controller };
  batch(() => {
    state.value = 'loading';
    failure.value = undefined;
    isLoadingMore.value = false;
  });
  try {
    const page = await fetchPage(selection, { order, limit: PAGE_RECORDS }, controller.signal);
    if (controller.signal.aborted) return undefined;
    cursor = page.nextCursor;
    currentQuery = query;
    batch(() => {
      entries.value = page.entries;
      hasMore.value = page.hasMore;
      state.value = 'ready';
    });
    return page.position;
  } catch (error) {
    if (controller.signal.aborted) return undefined;
    batch(() => {
      state.value = 'failed';
      failure.value = error;
      if (isCurrent(query)) return;
      currentQuery = undefined;
      entries.value = [];
    });
    return undefined;
  }
}

/** Appends the next page. A failure is kept, with the records that are there. */
export async function loadMore(): Promise<void> {
  if (!running || !hasMore.value || isLoadingMore.value || state.value !== 'ready') return;
  if (entries.value.length >= MAX_RECORDS) return;
  const { selection, order, controller } = running;
  batch(() => {
    isLoadingMore.value = true;
    failure.value = undefined;
  });
  try {
    const limit = entries.value.length < 1000 ? PAGE_RECORDS : 1000;
    const page = await fetchPage(selection, { order, limit, cursor }, controller.signal);
    if (controller.signal.aborted) return;
    cursor = page.nextCursor;
    batch(() => {
      entries.value = withNew(entries.value, page.entries, 'end');
      hasMore.value = page.hasMore;
    });
  } catch (error) {
    if (!controller.signal.aborted) failure.value = error;
  } finally {
    if (!controller.signal.aborted) isLoadingMore.value = false;
  }
}

/** Adds records that are not there yet; the live tail may send one again. */
export function withNew(present: readonly Entry[], added: readonly Entry[], place: 'start' | 'end'): readonly Entry[] {
  const ids = new Set(present.map(({ id }) => id));
  const fresh = added.filter(({ id }) => !ids.has(id));
  if (fresh.length === 0) return present;
  return place === 'start' ? [...fresh, ...present] : [...present, ...fresh];
}

/** Puts arrivals, newest first, before the others; returns how many were new. */
export function prepend(arrived: readonly Entry[]): number {
  const before = entries.value;
  const all = withNew(before, arrived, 'start');
  const added = all.length - before.length;
  if (all.length > MAX_LIVE_RECORDS) {
    // What is cut off at the end cannot be continued by the cursor.
    hasMore.value = false;
    entries.value = all.slice(0, MAX_LIVE_RECORDS);
  } else entries.value = all;
  return added;
}
