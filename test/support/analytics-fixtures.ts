/** Sites and hits as tests need them, and orders in which events may be delivered. */
import fc from 'fast-check';
import type { ReportDays } from '../../application/analytics/report.js';
import type { Hit } from '../../domain/analytics/catalog.js';
import { type DayCounts, type ListName, serializeDayList, TALLIED_LISTS } from '../../domain/analytics/day.js';
import { type DayLists, emptyNames, encodeTally } from '../../domain/analytics/dictionary-encoding.js';
import type { SiteFields, SitesCommand } from '../../domain/analytics/sites.js';

export const secretOf = (siteId: string): SiteFields => ({
  name: siteId,
  domains: ['example.com'],
  allowedEventProperties: ['plan'],
  goals: ['Buy'],
  tokenHash: null,
});

export const registerSite = (siteId: string, instance = 'one'): SitesCommand => ({
  type: 'RegisterSite',
  siteId,
  instance,
  ...secretOf(siteId),
  now: 1000,
});

export const registered = (siteId: string, instance = 'one') =>
  ({
    type: 'SiteRegistered',
    data: { siteId, instance, registeredAt: 1000, secret: secretOf(siteId) },
  }) as const;

export const changeSite = (siteId: string, changes: Partial<SiteFields>): SitesCommand => ({
  type: 'ChangeSite',
  siteId,
  changes,
  now: 2000,
});

export const deleteSite = (siteId: string): SitesCommand => ({
  type: 'DeleteSite',
  siteId,
  days: 2,
  now: 3000,
});

/** Days as reports read them. */
export function talliesOf(days: ReadonlyMap<string, DayCounts>) {
  const names = emptyNames();
  const lists = new Map(
    Array.from(days, ([day, counts]) => [
      day,
      Object.fromEntries(
        TALLIED_LISTS.map((list) => [list, encodeTally(names[list], serializeDayList(counts, list))]),
      ) as DayLists,
    ]),
  );
  return { lists, names };
}

/** Counts of one list of a day, by name. */
export function entriesOf({ lists, names }: Pick<ReportDays, 'lists' | 'names'>, day: string, list: ListName) {
  const tally = lists.get(day)?.[list];
  return tally && Array.from(tally.names, (name, index) => [names[list].all[name], tally.counts[index]]);
}

const hit: fc.Arbitrary<Hit> = fc.oneof(
  fc.record({ path: fc.constantFrom('/a', '/b', '/c') }),
  fc.record({ path: fc.constant('/'), event: fc.constantFrom('buy', 'leave') }),
);
export const happened = fc.array(
  fc.record({
    site: fc.constantFrom('one', 'two'),
    day: fc.constantFrom(0, 1),
    hits: fc.array(hit, { minLength: 1, maxLength: 4 }),
    visitors: fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 30 },
);
/** Redelivery as from a checkpoint: `back` events back, then `take` events; `anew` opens the projection again. */
export const deliveries = fc.array(
  fc.record({ back: fc.nat(10), take: fc.integer({ min: 1, max: 12 }), anew: fc.boolean() }),
  { maxLength: 12 },
);
