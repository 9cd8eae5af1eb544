/** Reads daily counts for reports and caches decrypted days, as past days rarely change. */
import { LRUCache } from 'lru-cache';
import type { Collection, Db } from 'mongodb';
import type { DayReader, ReportDays } from '../../application/analytics/report.js';
import { createYielder } from '../../application/concurrency/index.js';
import type { Cache, Vault } from '../../application/ports/index.js';
import type { DaySummary } from '../../domain/analytics/day.js';
import { type DayLists, emptyNames, type SiteNames } from '../../domain/analytics/dictionary-encoding.js';
import { assertBuildExists } from '../kernel/index.js';
import {
  DAYS,
  type DayRow,
  decryptCombinations,
  decryptSummary,
  decryptTallies,
  estimateNamesBytes,
  estimateTalliesBytes,
} from './daily-counts.js';

const CACHE_BYTES = 12 * 1024 * 1024;
const SITE_BYTES = 2000;
const DAY_BYTES = 500;

export interface DayReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** Name of the active projection build. */
  readonly build: () => string | undefined;
}

interface DecryptedDay {
  /** Position of the row it was decrypted from. */
  readonly at: string;
  readonly summary: DaySummary;
  /** Undefined until first requested. */
  readonly lists: DayLists | undefined;
}

/** Cached days of a site. */
interface CachedSite {
  readonly names: SiteNames;
  readonly days: Map<string, DecryptedDay>;
}

export function createDayReader({ db, vault, build }: DayReaderPorts): DayReader & {
  /** Drops a deleted site from memory. */
  forget(instance: string): void;
  readonly cache: Cache;
} {
  /** Entries are replaced after each read, which updates their size. */
  const cachedSites = new LRUCache<string, { readonly site: CachedSite }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ site }) => estimateSiteBytes(site),
  });
  /** Incremented by `forget`; reads that started before it must not fill the cache. */
  let invalidations = 0;

  async function readFromBuild<Found>(read: (rows: ReturnType<typeof rowsOf>) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(rowsOf(name));
    await assertBuildExists(db, name);
    return found;
  }
  const rowsOf = (name: string | undefined) => db.collection<DayRow>(`${name}.${DAYS}`);

  return {
    read: (instance, since, { start, end }) =>
      readFromBuild(async (rows): Promise<ReportDays> => {
        const invalidationsBefore = invalidations;
        const yieldIfDue = createYielder();
        const site = cachedSites.get(instance)?.site ?? { names: emptyNames(), days: new Map() };
        const [summaryRows, firstDay] = await Promise.all([
          rows
            .find({ site: instance, day: { $gte: since, $lte: end } })
            .project<Pick<DayRow, '_id' | 'site' | 'day' | '_at' | 'summary'>>({ lists: 0, counts: 0 })
            .toArray(),
          firstDayOf(rows, instance),
        ]);
        const days = new Map<string, DecryptedDay>();
        const missingIds: string[] = [];
        for (const summaryRow of summaryRows) {
          const { _id, day, _at } = summaryRow;
          let cached = site.days.get(day);
          if (cached?.at !== String(_at)) {
            const summary = await decryptSummary(vault, summaryRow);
            if (!summary) continue;
            cached = { at: String(_at), summary, lists: undefined };
            await yieldIfDue();
          }
          days.set(day, cached);
          if (day >= start && !cached.lists) missingIds.push(_id);
        }
        const missingRows = missingIds.length > 0 ? rows.find({ _id: { $in: missingIds } }, WITH_LISTS) : [];
        // One by one, as their plaintexts are much larger than the encoded lists.
        for await (const row of missingRows) {
          const [summary, lists] = [
            await decryptSummary(vault, row),
            await decryptTallies(vault, row, site.names, yieldIfDue),
          ];
          if (summary) days.set(row.day, { at: String(row._at), summary, lists });
        }
        for (const [day, each] of days) site.days.set(day, each);
        if (invalidations === invalidationsBefore) cachedSites.set(instance, { site });
        const summaries = new Map(Array.from(days, ([day, { summary }]) => [day, summary]));
        const lists = new Map<string, DayLists>();
        for (const [day, each] of days) if (day >= start && each.lists) lists.set(day, each.lists);
        return { summaries, firstDay, lists, names: site.names };
      }),

    readCombinations: (instance, start, end, visit) =>
      readFromBuild(async (rows) => {
        const yieldIfDue = createYielder();
        const found = rows
          .find({ site: instance, day: { $gte: start, $lte: end } })
          .project<Pick<DayRow, 'site' | 'day' | 'lists'>>({ site: 1, day: 1, 'lists.combinations': 1 });
        for await (const row of found) {
          visit(row.day, await decryptCombinations(vault, row));
          await yieldIfDue();
        }
        return firstDayOf(rows, instance);
      }),

    countDays: (instance) => readFromBuild((rows) => rows.countDocuments({ site: instance })),
    countBefore: (day) => readFromBuild((rows) => rows.countDocuments({ day: { $lt: day } })),

    forget(instance) {
      invalidations++;
      cachedSites.delete(instance);
    },

    cache: { name: 'analytics.days', limitBytes: CACHE_BYTES, bytes: () => cachedSites.calculatedSize },
  };
}

/** Excludes the visitor sketch and the combinations, which unfiltered reports do not need. */
const WITH_LISTS = { projection: { counts: 0, 'lists.combinations': 0 } };

/** Oldest day of a site with data. */
async function firstDayOf(rows: Collection<DayRow>, instance: string): Promise<string | undefined> {
  const found = rows.find({ site: instance }).sort({ day: 1 }).limit(1);
  return (await found.project<Pick<DayRow, 'day'>>({ day: 1 }).next())?.day;
}

const estimateSiteBytes = ({ names, days }: CachedSite): number =>
  [...days.values()].reduce(
    (sum, { lists }) => sum + DAY_BYTES + estimateTalliesBytes(lists),
    SITE_BYTES + estimateNamesBytes(names),
  );
