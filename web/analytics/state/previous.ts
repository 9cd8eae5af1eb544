/** Counts of the previous period by day, which the chart compares with. */
import { effect, signal } from '@preact/signals';
import { api, filterQuery } from '../api.js';
import type { Report } from '../contract.js';
import { shiftRange } from '../period.js';
import { isCompared } from '../report/chosen.js';
import { type LoadedReport, loaded } from './report.js';

interface Previous {
  /** Site and range. */
  readonly key: string;
  readonly report: Report;
}

const found = signal<Previous | undefined>(undefined);
let loading = new AbortController();
let loadingKey = '';

const keyOf = ({ site, filters, report: { range } }: LoadedReport): string =>
  [site, range.start, range.end, filterQuery(filters)].join(' ');

/** Whether the previous period has all of its days, and something to compare with. */
export const isComparable = ({ comparison: { previous } }: Report): boolean =>
  previous.complete && previous.pageviews + previous.events > 0;

/** Report of the period before that of a report; undefined while it is loading. Reading it subscribes. */
export const previousOf = (current: LoadedReport): Report | undefined =>
  found.value?.key === keyOf(current) ? found.value.report : undefined;

/** A failure leaves the comparison out; the totals have it anyway. */
async function load(current: LoadedReport): Promise<void> {
  const { site, report, filters } = current;
  const key = keyOf(current);
  const before = shiftRange(report.range, -1, Date.now());
  if (!before || loadingKey === key) return;
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  loadingKey = key;
  try {
    const previous = await api.report(site, { start: before.start, end: before.end }, { signal, filters });
    if (!signal.aborted) found.value = { key, report: previous };
  } catch {
    if (!signal.aborted) loadingKey = '';
  }
}

effect(() => {
  const current = loaded.value;
  if (current && isCompared.value && isComparable(current.report)) void load(current);
});
