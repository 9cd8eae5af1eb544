/** What is selected: site and period, both part of the address; and what is open. */
import { computed, signal } from '@preact/signals';
import { filterQuery } from '../api.js';
import type { Filters, Privacy, Site } from '../contract.js';
import { isSamePeriod, type Period, periodOf } from '../period.js';

/** Undefined until they are loaded. */
export const sites = signal<readonly Site[] | undefined>(undefined);
export const privacy = signal<Privacy | undefined>(undefined);

const addressed = () => new URLSearchParams(location.search);

/** Id of the shown site; undefined for all sites. */
export const siteId = signal<string | undefined>(addressed().get('site') ?? undefined);
export const period = signal<Period>(periodOf(addressed()));
export const filters = signal<Filters>(filtersOf(addressed()));

export const site = computed(() => sites.value?.find(({ id }) => id === siteId.value));

export const isInstallOpen = signal(false);

export type OpenDialog = 'create' | 'change' | 'share' | 'remove' | 'privacy';
export const openDialog = signal<OpenDialog | undefined>(undefined);
export const closeDialog = (): void => {
  openDialog.value = undefined;
};

/** A notice that is shown until it is closed. */
export const note = signal('');

/** Reads the filters from URL parameters; none if they are damaged. The service checks them. */
function filtersOf(query: URLSearchParams): Filters {
  try {
    return JSON.parse(query.get('filters') ?? '{}');
  } catch {
    return {};
  }
}

/** `?site=shop&days=30` */
export function addressOf(site: string | undefined, ofPeriod: Period, ofFilters: Filters = {}): string {
  const query = new URLSearchParams({ ...(site !== undefined && { site }) });
  for (const [name, value] of Object.entries(ofPeriod)) query.set(name, String(value));
  const filtered = filterQuery(ofFilters);
  if (filtered !== undefined) query.set('filters', filtered);
  return `?${query}`;
}

/** Makes the address show the selection. `push`: as a new entry of the history. */
export function writeAddress({ push = false } = {}): void {
  const address = addressOf(siteId.value, period.value, filters.value);
  if (address === location.search) return;
  // The fragment is the token of a public link.
  if (push) history.pushState(null, '', address + location.hash);
  else history.replaceState(null, '', address + location.hash);
}

/** Selects what the address shows. Keeps the period object if it is the same, as views compare it. */
export function readAddress(): void {
  const query = addressed();
  const addressedPeriod = periodOf(query);
  siteId.value = query.get('site') ?? undefined;
  if (!isSamePeriod(addressedPeriod, period.value)) period.value = addressedPeriod;
  filters.value = filtersOf(query);
}
