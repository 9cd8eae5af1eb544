/** What the reader has chosen to see in the chart. */
import { signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';
import type { Resolution } from '../chart/buckets.js';
import type { Metric, Report, Trend } from '../contract.js';

export const metric = signal<Metric>('pageviews');

/** The chosen metric if the report has it. */
export function metricOf({ totals }: Report): Metric {
  const available = totals[metric.value] === null ? 'pageviews' : metric.value;
  return available === 'pageviews' && totals.pageviews === 0 && totals.events > 0 ? 'events' : available;
}

/** The line of a list's row; matched with each report by category and label. */
export const trend = signal<Pick<Trend, 'category' | 'label'> | undefined>(undefined);

/** Undefined: as suits the length of the period. */
export const resolution = signal<Resolution | undefined>(undefined);

/** Whether the chart's values are shown as a table. */
export const isTableOpen = signal(false);

/** Name of the list that a card shows, by the card's group. */
export const selectedLists = signal<{ readonly [group: string]: string }>({});

const storedComparison = stored('analytics.comparison', true);
/** Whether the previous period is drawn. */
export const isCompared = signal(storedComparison.get());

export function toggleComparison(): void {
  isCompared.value = !isCompared.value;
  storedComparison.set(isCompared.value);
}
