/** The rows of days: one for a site and a day, sealed under the key of the site, so that it goes with that wherever it lies. */
import type { IndexDescription } from 'mongodb';
import type { Vault } from '../../application/ports.js';
import { siteSubject } from '../../domain/analytics/catalog.js';
import { type DayCounts, type DaySummary, readDay, type WrittenDay } from '../../domain/analytics/day.js';
import type { Row } from '../projection.js';

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
}

export const dayId = (instance: string, day: string): string => `${instance}:${day}`;

export const dayIn = (id: string): string => id.slice(id.indexOf(':') + 1);

/** Undefined where the site is deleted. */
export const openSummary = (vault: Vault, { site, summary }: Pick<DayRow, 'site' | 'summary'>) =>
  vault.open(siteSubject({ instance: site }), summary) as Promise<DaySummary | undefined>;

export async function openCounts(
  vault: Vault,
  { site, counts }: Pick<DayRow, 'site' | 'counts'>,
): Promise<DayCounts | undefined> {
  const written = (await vault.open(siteSubject({ instance: site }), counts)) as WrittenDay | undefined;
  return written && readDay(written);
}
