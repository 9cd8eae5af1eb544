/** Requests of the explorer: pages of records and counts. */
import type { Counts, Entry, Order, Page } from '../contract.js';
import { type Filter, filterParameters } from '../query/filter.js';
import { http } from '../session/session.js';
import type { Bounds } from '../time/range.js';
import { parseExact } from './exact-json.js';

export interface Selection {
  readonly filter: Filter;
  readonly bounds: Bounds;
}

export type Grouping =
  | { readonly groupBy: 'level' | 'event' | 'producer' | 'correlation' }
  | { readonly groupBy: 'field'; readonly groupField: string }
  | { readonly groupBy: 'time'; readonly interval: string };

export interface LoadedPage extends Page {
  /** Position in the log that the page reflects; a live tail can start there. */
  readonly position: string | undefined;
}

function parametersOf({ filter, bounds }: Selection, more: { readonly [name: string]: string | number | undefined }) {
  const parameters = filterParameters(filter);
  if (bounds.from !== undefined) parameters.set('from', String(Math.floor(bounds.from)));
  if (bounds.to !== undefined) parameters.set('to', String(Math.ceil(bounds.to)));
  for (const [name, value] of Object.entries(more)) if (value !== undefined) parameters.set(name, String(value));
  return parameters;
}

export async function fetchPage(
  selection: Selection,
  options: { readonly order: Order; readonly limit: number; readonly cursor?: string | undefined },
  signal?: AbortSignal,
): Promise<LoadedPage> {
  const parameters = parametersOf(selection, options);
  const response = await http.send('GET', `api/logs?${parameters}`, signal && { signal });
  const page = parseExact(await response.text()) as Page;
  return { ...page, position: response.headers.get('Position') ?? undefined };
}

export const fetchCounts = (
  selection: Selection,
  grouping: Grouping,
  limit: number,
  signal?: AbortSignal,
): Promise<Counts> =>
  http.json<Counts>(
    'GET',
    `api/logs/aggregate?${parametersOf(selection, { ...grouping, limit })}`,
    signal && { signal },
  );

/** Address of the live tail. New records are not limited by time. */
export const tailAddress = (filter: Filter): string => `api/logs/tail?${filterParameters(filter)}`;

export const entryTime = ({ timestamp }: Pick<Entry, 'timestamp'>): number => Date.parse(timestamp);
