/** The days of a site as reports read them: what was opened is remembered, since days that are over do not change. */
import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { DayReader } from '../../application/analytics/report.js';
import type { Cache, Vault } from '../../application/ports.js';
import { breather } from '../../application/turns.js';
import type { DayCounts, DaySummary } from '../../domain/analytics/day.js';
import { assertStands } from '../standing.js';
import { DAYS, type DayRow, dayId, heldCounts, openCounts, openSummary } from './rows.js';

const CACHE_BYTES = 12 * 1024 * 1024;

export interface DayReaderPorts {
  readonly db: Db;
  readonly vault: Vault;
  /** The build that is served. */
  readonly build: () => string | undefined;
}

interface Opened {
  /** The position of the row that it was opened from. */
  readonly at: string;
  readonly counts: DayCounts;
}

export function createDayReader({ db, vault, build }: DayReaderPorts): DayReader & {
  /** The site is deleted: nothing of it stays in memory. */
  forget(instance: string): void;
  readonly cache: Cache;
} {
  const opened = new LRUCache<string, Opened>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ counts }) => heldCounts(counts),
  });
  const within = (instance: string, start: string, end: string) => ({
    site: instance,
    day: { $gte: start, $lte: end },
  });

  async function reading<Found>(read: (rows: ReturnType<typeof rowsOf>) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(rowsOf(name));
    await assertStands(db, name);
    return found;
  }
  const rowsOf = (name: string | undefined) => db.collection<DayRow>(`${name}.${DAYS}`);

  return {
    summaries: (instance, start, end) =>
      reading(async (rows) => {
        const fields = { site: 1, day: 1, summary: 1 };
        const found = await rows
          .find(within(instance, start, end))
          .project<Pick<DayRow, 'site' | 'day' | 'summary'>>(fields)
          .toArray();
        const all = new Map<string, DaySummary>();
        for (const row of found) {
          const summary = await openSummary(vault, row);
          if (summary) all.set(row.day, summary);
        }
        return all;
      }),

    counts: (instance, start, end) =>
      reading(async (rows) => {
        const breathe = breather();
        const heads = await rows
          .find(within(instance, start, end))
          .project<Pick<DayRow, '_id' | 'day' | '_at'>>({ day: 1, _at: 1 })
          .toArray();
        const all = new Map<string, DayCounts>();
        const unknown: string[] = [];
        for (const { _id, day, _at } of heads) {
          const known = opened.get(_id);
          if (known?.at === String(_at)) all.set(day, known.counts);
          else unknown.push(_id);
        }
        const fresh = unknown.length > 0 ? await rows.find({ _id: { $in: unknown } }).toArray() : [];
        for (const row of fresh) {
          const counts = await openCounts(vault, row, breathe);
          if (!counts) continue;
          opened.set(row._id, { at: String(row._at), counts });
          all.set(row.day, counts);
          await breathe();
        }
        return all;
      }),

    countDays: (instance) => reading((rows) => rows.countDocuments({ site: instance })),
    countBefore: (day) => reading((rows) => rows.countDocuments({ day: { $lt: day } })),

    forget(instance) {
      for (const id of [...opened.keys()]) if (id.startsWith(dayId(instance, ''))) opened.delete(id);
    },

    cache: { name: 'analytics.days', limitBytes: CACHE_BYTES, bytes: () => opened.calculatedSize },
  };
}
