/** The report of the selected site and period, loaded again while hits arrive. */
import { signal } from '@preact/signals';
import { ApiError, messageOf } from '../../shared/api/http.js';
import { api } from '../api.js';
import type { Filters, Report } from '../contract.js';
import { watchMidnight } from './midnight.js';
import { filters, isInstallOpen, period, site, writeAddress } from './selection.js';

/** Minimum time between refreshes while hits arrive. */
const REFRESH_MS = 2000;
/** Minimum time between refreshes as a multiple of the last report's duration. */
const REFRESH_FACTOR = 10;

/** `site`: its id. Kept when a later request fails. */
export const loaded = signal<LoadedReport | undefined>(undefined);

export interface LoadedReport {
  readonly site: string;
  readonly report: Report;
  readonly filters: Filters;
}

/** Why the last request failed. */
export const trouble = signal('');
/** Whether another report than the shown one is loading. */
export const isBusy = signal(false);

let loading = new AbortController();
let refreshTimer: ReturnType<typeof setTimeout> | undefined;
/** Milliseconds the last report took. */
let loadMs = 0;

const countedAt = watchMidnight(() => {
  if (!document.hidden) void loadReport('same');
});

/** `same`: refresh only; `new`: opens the install section if the site has no hits yet. */
export async function loadReport(kind: 'same' | 'other' | 'new' = 'other'): Promise<void> {
  if (!site.value) return;
  const { id } = site.value;
  loading.abort();
  loading = new AbortController();
  const { signal } = loading;
  const applied = filters.value;
  writeAddress();
  if (kind !== 'same') isBusy.value = true;
  const startedAt = performance.now();
  try {
    const report = await api.report(id, period.value, { signal, filters: applied });
    if (signal.aborted) return;
    loadMs = performance.now() - startedAt;
    trouble.value = '';
    loaded.value = { site: id, report, filters: applied };
    countedAt(report.generatedAt);
    if (kind === 'new' && isEmpty(report) && !report.notKept) isInstallOpen.value = true;
  } catch (error) {
    if (signal.aborted) return;
    trouble.value = messageOf(error);
    // The site was deleted, or its public link revoked.
    if (error instanceof ApiError && error.status === 404) loaded.value = undefined;
  }
  isBusy.value = false;
}

/** Schedules a refresh. */
export function refreshSoon(): void {
  if (document.hidden) return;
  refreshTimer ??= setTimeout(
    () => {
      refreshTimer = undefined;
      void loadReport('same');
    },
    Math.max(REFRESH_MS, REFRESH_FACTOR * loadMs),
  );
}

export function cancelRefresh(): void {
  clearTimeout(refreshTimer);
  refreshTimer = undefined;
}

/** Forgets the shown report. */
export function clearReport(): void {
  loading.abort();
  loaded.value = undefined;
  trouble.value = '';
  isBusy.value = false;
}

export const hasHits = ({ totals }: Report): boolean => totals.pageviews + totals.events > 0;

const isEmpty = (report: Report): boolean => {
  const { previous } = report.comparison;
  return !hasHits(report) && previous.pageviews + previous.events === 0;
};
