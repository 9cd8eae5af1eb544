/** The rows of days: one for a site and a day, sealed under the key of the site, so that it goes with that wherever it lies. */
import type { IndexDescription } from 'mongodb';
import type { Vault } from '../../application/ports/index.js';
import { siteSubject } from '../../domain/analytics/catalog.js';
import {
  type DayCounts,
  type DaySummary,
  type ListName,
  deserializeDay,
  type SerializedHead,
} from '../../domain/analytics/day.js';
import { type DayLists, type SiteNames, type Tally, encodeTally } from '../../domain/analytics/dictionary-encoding.js';
import type { SerializedList } from '../../domain/analytics/frequent-values.js';
import { REGISTERS } from '../../domain/analytics/hyperloglog.js';
import type { Row } from '../kernel/index.js';

/** The part of a build that holds them. */
export const DAYS = 'days';
export const DAYS_INDEXES: IndexDescription[] = [
  { key: { site: 1, day: 1 }, name: 'days' },
  { key: { day: 1 }, name: 'oldest' },
];

export interface DayRow extends Row {
  /** The instance. */
  readonly site: string;
  /** `2026-11-22`, UTC. */
  readonly day: string;
  /** Sealed: totals apart, as most days are only looked at for them. */
  readonly summary: string;
  readonly counts: string;
  /** Each sealed by itself: only those that something came to are written, and none takes long. */
  readonly lists?: { readonly [list in ListName]?: string };
}

export const dayId = (instance: string, day: string): string => `${instance}:${day}`;

export const dayOfRowId = (id: string): string => id.slice(id.indexOf(':') + 1);

/** Undefined where the site is deleted. */
export const decryptSummary = (vault: Vault, { site, summary }: Pick<DayRow, 'site' | 'summary'>) =>
  vault.open(siteSubject({ instance: site }), summary) as Promise<DaySummary | undefined>;

export async function decryptCounts(
  vault: Vault,
  { site, counts, lists = {} }: Pick<DayRow, 'site' | 'counts' | 'lists'>,
  breathe: () => Promise<void> | undefined,
): Promise<DayCounts | undefined> {
  const subject = siteSubject({ instance: site });
  const head = (await vault.open(subject, counts)) as SerializedHead | undefined;
  const written: { [list in ListName]?: SerializedList } = {};
  for (const [list, sealed] of Object.entries(lists)) {
    written[list as ListName] = ((await vault.open(subject, sealed)) ?? []) as SerializedList;
    await breathe();
  }
  return head && deserializeDay({ ...head, lists: written });
}

/** The lists of a day as reports read them; none where the site is deleted. */
export async function decryptTallies(
  vault: Vault,
  { site, lists = {} }: Pick<DayRow, 'site' | 'lists'>,
  names: SiteNames,
  breathe: () => Promise<void> | undefined,
): Promise<DayLists> {
  const subject = siteSubject({ instance: site });
  const all: { [list in ListName]?: Tally } = {};
  for (const [list, sealed] of Object.entries(lists) as [ListName, string][]) {
    const written = (await vault.open(subject, sealed)) as SerializedList | undefined;
    if (written) all[list] = encodeTally(names[list], written);
    await breathe();
  }
  return all;
}

/** Of an entry of a list, besides its characters; of a visitor who is told apart; of a day. */
const VALUE_BYTES = 140;
const VISITOR_BYTES = 140;
const DAY_BYTES = 2000;

/** What the counts of a day take in memory, about. */
export function estimateCountsBytes({ lists, visitors }: DayCounts): number {
  const values = Object.values(lists).reduce(
    (sum, { size, characters }) => sum + size * VALUE_BYTES + 2 * characters,
    DAY_BYTES,
  );
  return values + ('exact' in visitors ? visitors.exact.size * VISITOR_BYTES : REGISTERS);
}

/** Of a number and how often, with what typed arrays take. */
const ENTRY_BYTES = 12;
const TALLY_BYTES = 250;

export const estimateTalliesBytes = (lists: DayLists = {}): number =>
  Object.values(lists).reduce((sum, { names }) => sum + TALLY_BYTES + names.length * ENTRY_BYTES, 0);

export const estimateNamesBytes = (names: SiteNames): number =>
  Object.values(names).reduce((sum, { all }) => all.reduce((of, name) => of + VALUE_BYTES + 2 * name.length, sum), 0);
