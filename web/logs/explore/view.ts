/** The whole query in the address: text, time range, order, live tail and refresh. */
import { computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { href, navigate, route } from '../../shared/route.js';
import type { Order } from '../contract.js';
import { type Range, rangeFrom, rangeParameters } from '../time/range.js';

export interface View {
  /** Text of the query bar. */
  readonly text: string;
  readonly range: Range;
  readonly order: Order;
  readonly live: boolean;
  /** Seconds between automatic refreshes; 0: none. */
  readonly refreshSeconds: number;
  /** Paths of fields whose values are shown in the rows. */
  readonly columns: readonly string[];
}

export const REFRESH_SECONDS = [0, 5, 10, 30, 60, 300] as const;

const MAX_COLUMNS = 8;

export function viewFrom(query: URLSearchParams): View {
  const refresh = Number(query.get('refresh'));
  return {
    text: query.get('q') ?? '',
    range: rangeFrom(query),
    order: query.get('order') === 'asc' ? 'asc' : 'desc',
    live: query.get('live') === '1',
    columns: [...new Set(query.getAll('show').filter(Boolean))].slice(0, MAX_COLUMNS),
    refreshSeconds: (REFRESH_SECONDS as readonly number[]).includes(refresh) ? refresh : 0,
  };
}

export function viewHref({ text, range, order, live, refreshSeconds, columns }: View): string {
  const address = href([], {
    ...(text !== '' && { q: text }),
    ...rangeParameters(range),
    ...(order === 'asc' && { order }),
    ...(live && { live: '1' }),
    ...(refreshSeconds > 0 && { refresh: String(refreshSeconds) }),
  });
  return address + columns.map((path) => `&show=${encodeURIComponent(path)}`).join('');
}

/** The view in the address. */
export const view = computed(() => viewFrom(route().query));

/** Changes the address; the page follows it. */
export function change(changes: Partial<View>, { replace = false } = {}): void {
  const next = viewHref({ ...view.value, ...changes });
  navigate(next, { replace: replace || next === viewHref(view.value) });
}

/** Shows the values of a field in the rows, or no longer. */
export function toggleColumn(path: string): void {
  const { columns } = view.peek();
  const isSelected = columns.includes(path);
  const next = isSelected ? columns.filter((each) => each !== path) : [...columns, path].slice(-MAX_COLUMNS);
  change({ columns: next }, { replace: true });
}

/** Address of the view with its bounds fixed, so that others see the same records later. */
export function shareAddress(shared: View, now = Date.now()): string {
  const { range } = shared;
  const fixed: Range = range.kind === 'relative' ? { kind: 'absolute', from: now - range.ms, to: now } : range;
  const { origin, pathname } = location;
  return origin + pathname + viewHref({ ...shared, range: fixed, live: false, refreshSeconds: 0 });
}

const explored = signal(viewHref(viewFrom(new URLSearchParams())));
effect(() => {
  if (route().path.length === 0) explored.value = viewHref(view.value);
});

/** Address of the explorer as it was left. */
export const lastExplored: ReadonlySignal<string> = explored;
