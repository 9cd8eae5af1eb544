/** Counts of the previous period by day, which the chart compares with. */
import { effect, signal } from '@preact/signals';
import { api } from '../api.js';
import type { Report } from '../contract.js';
import { shiftRange } from '../period.js';
import { isCompared } from '../report/chosen.js';
import { loaded } from './report.js';

interface Previous {
  /** Site and range. */
  readonly key: string;
  readonly report: Report;
}

const found = signal<Previous | undefined>(undefined);
let loading = new AbortController();
let loadingKey = '';

const keyOf = (site: string, { range: { start, end } }: Report): string => `${site} ${start} ${end}`;

/** Whether the previous period has something to compare with. */
export const isComparable = ({ comparison: { previous } }: Report): boolean => previous.pageviews + previous.events > 0;

/** Report of the period before that of a report; undefined while it is loading. Reading it subscribes. */
export const previousOf = (site: string, report: Report): Report | undefined =>
  found.value?.key === keyOf(site, report) ? found.value.report : undefined;

/** A failure leaves the comparison out; the totals have it anyway. */
async function load(site: string, report: Report): Promise<void> {
  const key = keyOf(site, report);
  const before = shiftRange(report.range, -1, Date.now());
  if (!before || loadingKey === key) return;
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  loadingKey = key;
  try {
    const previous = await api.report(site, { start: before.start, end: before.end }, { signal });
    if (!signal.aborted) found.value = { key, report: previous };
  } catch {
    if (!signal.aborted) loadingKey = '';
  }
}

effect(() => {
  const current = loaded.value;
  if (current && isCompared.value && isComparable(current.report)) void load(current.site, current.report);
});
