/** The days of a site as reports read them: what was opened is remembered, since days that are over do not change. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { DayReader, ReportDays } from '../../application/analytics/report.js';
import { createYielder } from '../../application/concurrency/index.js';
import type { Cache, Vault } from '../../application/ports/index.js';
import type { DaySummary } from '../../domain/analytics/day.js';
import { type DayLists, emptyNames, type SiteNames } from '../../domain/analytics/dictionary-encoding.js';
import { assertBuildExists } from '../kernel/index.js';
import { DAYS, type DayRow, estimateNamesBytes, estimateTalliesBytes, decryptSummary, decryptTallies } from './daily-counts-rows.js';

const CACHE_BYTES = 12 * 1024 * 1024;
const SITE_BYTES = 2000;
const DAY_BYTES = 500;

export interface DayReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** The build that is served. */
  readonly build: () => string | undefined;
}

interface OpenedDay {
  /** The position of the row that it was opened from. */
  readonly at: string;
  readonly summary: DaySummary;
  /** Undefined while nobody has asked for them. */
  readonly lists: DayLists | undefined;
}

/** What is remembered of a site. */
interface OpenedSite {
  readonly names: SiteNames;
  readonly days: Map<string, OpenedDay>;
}

export function createDayReader({ db, vault, build }: DayReaderPorts): DayReader & {
  /** The site is deleted: nothing of it stays in memory. */
  forget(instance: string): void;
  readonly cache: Cache;
} {
  /** Measured anew whenever something was read. */
  const opened = new LRUCache<string, { readonly site: OpenedSite }>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ site }) => heldBySite(site),
  });
  /** How often something was forgotten: what was read meanwhile is not remembered. */
  let forgotten = 0;

  async function reading<Found>(read: (rows: ReturnType<typeof rowsOf>) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(rowsOf(name));
    await assertBuildExists(db, name);
    return found;
  }
  const rowsOf = (name: string | undefined) => db.collection<DayRow>(`${name}.${DAYS}`);

  return {
    read: (instance, since, { start, end }) =>
      reading(async (rows): Promise<ReportDays> => {
        const before = forgotten;
        const breathe = createYielder();
        const site = opened.get(instance)?.site ?? { names: emptyNames(), days: new Map() };
        const [heads, oldest] = await Promise.all([
          rows
            .find({ site: instance, day: { $gte: since, $lte: end } })
            .project<Pick<DayRow, '_id' | 'site' | 'day' | '_at' | 'summary'>>({ lists: 0, counts: 0 })
            .toArray(),
          rows.find({ site: instance }).sort({ day: 1 }).limit(1).project<Pick<DayRow, 'day'>>({ day: 1 }).next(),
        ]);
        const all = new Map<string, OpenedDay>();
        const unknown: string[] = [];
        for (const head of heads) {
          const { _id, day, _at } = head;
          let known = site.days.get(day);
          if (known?.at !== String(_at)) {
            const summary = await decryptSummary(vault, head);
            if (!summary) continue;
            known = { at: String(_at), summary, lists: undefined };
            await breathe();
          }
          all.set(day, known);
          if (day >= start && !known.lists) unknown.push(_id);
        }
        const wanted = unknown.length > 0 ? rows.find({ _id: { $in: unknown } }, WITH_LISTS) : [];
        // One after the other: together their texts are much larger than what is kept of them.
        for await (const row of wanted) {
          const [summary, lists] = [await decryptSummary(vault, row), await decryptTallies(vault, row, site.names, breathe)];
          if (summary) all.set(row.day, { at: String(row._at), summary, lists });
        }
        for (const [day, each] of all) site.days.set(day, each);
        if (forgotten === before) opened.set(instance, { site });
        const summaries = new Map(Array.from(all, ([day, { summary }]) => [day, summary]));
        const lists = new Map<string, DayLists>();
        for (const [day, each] of all) if (day >= start && each.lists) lists.set(day, each.lists);
        return { summaries, firstDay: oldest?.day, lists, names: site.names };
      }),

    countDays: (instance) => reading((rows) => rows.countDocuments({ site: instance })),
    countBefore: (day) => reading((rows) => rows.countDocuments({ day: { $lt: day } })),

    forget(instance) {
      forgotten++;
      opened.delete(instance);
    },

    cache: { name: 'analytics.days', limitBytes: CACHE_BYTES, bytes: () => opened.calculatedSize },
  };
}

/** Without the sketch: that is counted already. */
const WITH_LISTS = { projection: { counts: 0 } };

const heldBySite = ({ names, days }: OpenedSite): number =>
  [...days.values()].reduce((sum, { lists }) => sum + DAY_BYTES + estimateTalliesBytes(lists), SITE_BYTES + estimateNamesBytes(names));
