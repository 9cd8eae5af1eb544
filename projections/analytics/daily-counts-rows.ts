/** Rows of daily counts, one per site and day, encrypted with the site's key, so that destroying the key erases them. */
import type { IndexDescription } from 'mongodb';
import type { Vault } from '../../application/ports/index.js';
import { siteSubject } from '../../domain/analytics/catalog.js';
import {
  type DayCounts,
  type DaySummary,
  deserializeDay,
  type ListName,
  type SerializedHead,
} from '../../domain/analytics/day.js';
import { type DayLists, encodeTally, type SiteNames, type Tally } from '../../domain/analytics/dictionary-encoding.js';
import type { SerializedList } from '../../domain/analytics/frequent-values.js';
import { REGISTERS } from '../../domain/analytics/hyperloglog.js';
import type { Row } from '../kernel/index.js';

/** Collection of a build that holds the rows. */
export const DAYS = 'days';
export const DAYS_INDEXES: IndexDescription[] = [
  { key: { site: 1, day: 1 }, name: 'days' },
  { key: { day: 1 }, name: 'oldest' },
];

export interface DayRow extends Row {
  /** Site instance. */
  readonly site: string;
  /** `2026-11-22`, UTC. */
  readonly day: string;
  /** Encrypted totals, separate from `counts`, as most days are read for their totals only. */
  readonly summary: string;
  readonly counts: string;
  /** Encrypted one by one, so that only changed lists are written. */
  readonly lists?: { readonly [list in ListName]?: string };
}

export const dayId = (instance: string, day: string): string => `${instance}:${day}`;

export const dayOfRowId = (id: string): string => id.slice(id.indexOf(':') + 1);

/** Undefined if the site is deleted. */
export const decryptSummary = (vault: Vault, { site, summary }: Pick<DayRow, 'site' | 'summary'>) =>
  vault.open(siteSubject({ instance: site }), summary) as Promise<DaySummary | undefined>;

export async function decryptCounts(
  vault: Vault,
  { site, counts, lists = {} }: Pick<DayRow, 'site' | 'counts' | 'lists'>,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<DayCounts | undefined> {
  const subject = siteSubject({ instance: site });
  const head = (await vault.open(subject, counts)) as SerializedHead | undefined;
  const serialized: { [list in ListName]?: SerializedList } = {};
  for (const [list, ciphertext] of Object.entries(lists)) {
    serialized[list as ListName] = ((await vault.open(subject, ciphertext)) ?? []) as SerializedList;
    await yieldIfDue();
  }
  return head && deserializeDay({ ...head, lists: serialized });
}

/** Decrypts the lists of a day for reports; empty if the site is deleted. */
export async function decryptTallies(
  vault: Vault,
  { site, lists = {} }: Pick<DayRow, 'site' | 'lists'>,
  names: SiteNames,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<DayLists> {
  const subject = siteSubject({ instance: site });
  const all: { [list in ListName]?: Tally } = {};
  for (const [list, ciphertext] of Object.entries(lists) as [ListName, string][]) {
    const serialized = (await vault.open(subject, ciphertext)) as SerializedList | undefined;
    if (serialized) all[list] = encodeTally(names[list], serialized);
    await yieldIfDue();
  }
  return all;
}

/** Estimated memory per list entry (without its text), per exactly counted visitor, and per day. */
const VALUE_BYTES = 140;
const VISITOR_BYTES = 140;
const DAY_BYTES = 2000;

/** Estimates the memory of a day's counts. */
export function estimateCountsBytes({ lists, visitors }: DayCounts): number {
  const values = Object.values(lists).reduce(
    (sum, { size, characters }) => sum + size * VALUE_BYTES + 2 * characters,
    DAY_BYTES,
  );
  return values + ('exact' in visitors ? visitors.exact.size * VISITOR_BYTES : REGISTERS);
}

/** Estimated memory per encoded entry, and per list for its typed arrays. */
const ENTRY_BYTES = 12;
const TALLY_BYTES = 250;

export const estimateTalliesBytes = (lists: DayLists = {}): number =>
  Object.values(lists).reduce((sum, { names }) => sum + TALLY_BYTES + names.length * ENTRY_BYTES, 0);

export const estimateNamesBytes = (names: SiteNames): number =>
  Object.values(names).reduce((sum, { all }) => all.reduce((of, name) => of + VALUE_BYTES + 2 * name.length, sum), 0);
