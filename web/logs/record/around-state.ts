/** Records before and after one: of the same producer, the same correlation, or all. */
import { batch, signal } from '@preact/signals';
import { entryTime, fetchPage } from '../api/queries.js';
import type { Entry, Order } from '../contract.js';
import { withNew } from '../explore/results.js';
import { type Filter, parseQuery } from '../query/filter.js';

export type Scope = 'producer' | 'correlation' | 'all';

const PAGE = 25;
/** A page of the instant itself may hold more records than are shown on one side. */
const FIRST_PAGE = 100;

export const center = signal<Entry | undefined>(undefined);
export const scope = signal<Scope>('producer');
/** Oldest first, with the record itself. */
export const context = signal<readonly Entry[]>([]);
export const isLoading = signal(false);
export const error = signal<unknown>(undefined);
export const hasEarlier = signal(false);
export const hasLater = signal(false);

type Side = 'earlier' | 'later';
const cursors: { [side in Side]: string | undefined } = { earlier: undefined, later: undefined };
let controller = new AbortController();

export function showAround(entry: Entry): void {
  center.value = entry;
  setScope(entry.correlationId === null ? 'producer' : scope.peek());
}

export function closeAround(): void {
  controller.abort();
  center.value = undefined;
}

export function setScope(chosen: Scope): void {
  const entry = center.peek();
  if (!entry) return;
  controller.abort();
  controller = new AbortController();
  cursors.earlier = undefined;
  cursors.later = undefined;
  batch(() => {
    scope.value = chosen;
    context.value = [entry];
    hasEarlier.value = true;
    hasLater.value = true;
  });
  void load(['earlier', 'later']);
}

export const showMore = (side: Side): void => void load([side]);

async function load(sides: readonly Side[]): Promise<void> {
  const entry = center.peek();
  if (!entry) return;
  const { signal: aborted } = controller;
  batch(() => {
    isLoading.value = true;
    error.value = undefined;
  });
  try {
    await Promise.all(sides.map((side) => loadSide(entry, side, aborted)));
  } catch (failure) {
    if (!aborted.aborted) error.value = failure;
  } finally {
    if (!aborted.aborted) isLoading.value = false;
  }
}

async function loadSide(entry: Entry, side: Side, aborted: AbortSignal): Promise<void> {
  const at = entryTime(entry);
  const order: Order = side === 'earlier' ? 'desc' : 'asc';
  const bounds = side === 'earlier' ? { to: at } : { from: at };
  const cursor = cursors[side];
  const filter = filterOf(entry, scope.peek());
  const limit = cursor === undefined ? FIRST_PAGE : PAGE;
  const page = await fetchPage({ filter, bounds }, { order, limit, cursor }, aborted);
  if (aborted.aborted) return;
  cursors[side] = page.nextCursor;
  const ordered = order === 'desc' ? [...page.entries].reverse() : page.entries;
  batch(() => {
    context.value = withNew(context.value, ordered, side === 'earlier' ? 'start' : 'end');
    if (side === 'earlier') hasEarlier.value = page.hasMore;
    else hasLater.value = page.hasMore;
  });
}

function filterOf({ producerId, correlationId }: Entry, chosen: Scope): Filter {
  const { filter } = parseQuery('');
  if (chosen === 'producer') return { ...filter, producer: producerId };
  return chosen === 'correlation' && correlationId !== null ? { ...filter, correlation: correlationId } : filter;
}
