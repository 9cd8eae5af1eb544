/** Runs the query of the address: results, counts, live tail and automatic refresh. */
import { computed, effect, signal, untracked } from '@preact/signals';
import type { Selection } from '../api/queries.js';
import { parseQuery } from '../query/filter.js';
import { boundsOf } from '../time/range.js';
import { count, counted, total } from './counts.js';
import { fieldsOf } from './fields.js';
import { arrivedCount, startLive, stopLive } from './live.js';
import { entries, isCurrent, runQuery } from './results.js';
import { type View, view } from './view.js';

/** The query of the address is incomplete; the text says what to change. */
export const problem = computed(() => parseQuery(view.value.text).problem);
/** Instant of the last run: relative ranges end there. */
export const ranAt = signal(Date.now());
export const fieldNames = computed(() => fieldsOf(entries.value));

const COUNT_AGAIN_MS = 10_000;
/** Arrivals of the live tail that are in the counts. */
const countedArrivals = signal(0);
/** Records that match, with those that arrived since they were counted. */
export const matching = computed(() =>
  total.value === undefined ? undefined : total.value + arrivedCount.value - countedArrivals.value,
);

/** Milliseconds that records are searched before they are counted. */
const HEAD_START_MS = 300;
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Grows with each run; an older run must not start a live tail. */
let runs = 0;

function selectionOf({ text, range, live }: View, now: number): Selection {
  const bounds = boundsOf(range, now);
  // A live tail has no end, so its first page has none either.
  const { to, ...open } = bounds;
  return { filter: parseQuery(text).filter, bounds: live ? open : { ...open, ...(to !== undefined && { to }) } };
}

const queryOf = ({ text, range, order, live }: View) => JSON.stringify([text, range, order, live]);

/** Runs the query of the address again. */
export async function run(): Promise<void> {
  const current = view.peek();
  const thisRun = ++runs;
  stopLive();
  if (parseQuery(current.text).problem !== undefined) return;
  const now = Date.now();
  ranAt.value = now;
  const selection = selectionOf(current, now);
  countedArrivals.value = 0;
  const query = queryOf(current);
  const isRefresh = isCurrent(query);
  const page = runQuery(selection, current.live ? 'desc' : current.order, query);
  // Records come first; counts take longer, and would slow them down.
  await Promise.race([page, pause(HEAD_START_MS)]);
  if (thisRun !== runs) return;
  void count(selection, now, isRefresh);
  const position = await page;
  if (current.live && thisRun === runs) startLive(selection.filter, position);
}

/** Counts again with a moved range, without touching the records. */
function recount() {
  countedArrivals.value = arrivedCount.peek();
  const now = Date.now();
  ranAt.value = now;
  void count(selectionOf(view.peek(), now), now, true);
}

/** Follows the address until the returned function is called. */
export function startExplorer(): () => void {
  let lastKey = '';
  const stopRuns = effect(() => {
    const key = queryOf(view.value);
    // The refresh alone does not change the results.
    if (key === lastKey) return;
    lastKey = key;
    void untracked(run);
  });
  const stopRefresh = effect(() => {
    const { refreshSeconds, live } = view.value;
    if (refreshSeconds === 0 || live) return;
    const timer = setInterval(() => document.visibilityState === 'visible' && void run(), refreshSeconds * 1000);
    return () => clearInterval(timer);
  });
  const recounting = setInterval(() => {
    if (arrivedCount.peek() > countedArrivals.peek() && document.visibilityState === 'visible') recount();
  }, COUNT_AGAIN_MS);
  return () => {
    stopRuns();
    stopRefresh();
    clearInterval(recounting);
    stopLive();
  };
}

/** What completions and facets of fields are counted in. */
export const currentSelection = (): Selection => counted.peek() ?? selectionOf(view.peek(), Date.now());
