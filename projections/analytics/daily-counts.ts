/** Projection of daily counts per site, so that reports need not read hits. */
import { LRUCache } from 'lru-cache';
import type { IndexDescription } from 'mongodb';
import { createYielder } from '../../application/concurrency/index.js';
import type { Position, RecordedEvent, Vault } from '../../application/ports/index.js';
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import {
  count,
  type DayCounts,
  type DaySummary,
  deserializeDay,
  emptyDay,
  type SerializedHead,
  type StoredList,
  serializeDay,
  serializeDayList,
  serializeHead,
  summaryOf,
  type TalliedList,
} from '../../domain/analytics/day.js';
import { type DayLists, encodeTally, type SiteNames, type Tally } from '../../domain/analytics/dictionary-encoding.js';
import type { SerializedList } from '../../domain/analytics/frequent-values.js';
import type { HitsCollected } from '../../domain/analytics/hit.js';
import { REGISTERS } from '../../domain/analytics/hyperloglog.js';
import { type EventHandlers, handlerFor } from '../../domain/shared/index.js';
import {
  type Apply,
  type Build,
  type OwnProjection,
  positionGuarded,
  type Row,
  type RowWrite,
} from '../kernel/index.js';

/** Memory for decrypted days; hits of other days reload their row. */
const CACHE_BYTES = 24 * 1024 * 1024;

/** Milliseconds that events are collected, as every write replaces whole lists. */
export const DEBOUNCE_MS = 200;

export const days: OwnProjection = { name: 'analytics.days', version: 5, debounceMs: DEBOUNCE_MS, open, scan };

type CountEvent = AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'DaysExpired'>;
type Hits = RecordedEvent<HitsCollected>;

interface CachedDay {
  readonly counts: DayCounts;
  /** Position of the last counted event. */
  at: Position;
}

async function open(build: Build): Promise<Apply> {
  const { vault } = build;
  const rows = build.collection<DayRow>(DAYS);
  await rows.createIndexes(DAYS_INDEXES);
  const cachedDays = new LRUCache<string, CachedDay>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ counts }) => estimateCountsBytes(counts),
  });
  /** Days to be written, by row id, with the last event of each. */
  const dirty = new Map<string, { readonly cachedDay: CachedDay; readonly event: Hits }>();
  const yieldIfDue = createYielder();

  async function loadDay(instance: string, day: string): Promise<CachedDay> {
    const id = dayId(instance, day);
    const cached = dirty.get(id)?.cachedDay ?? cachedDays.get(id);
    if (cached) return cached;
    const row = await rows.findOne({ _id: id });
    const counts = row ? await decryptCounts(vault, row, yieldIfDue) : undefined;
    const cachedDay = { counts: counts ?? emptyDay(), at: row?._at.toBigInt() ?? -1n };
    cachedDays.set(id, cachedDay);
    return cachedDay;
  }

  async function countHits(event: Hits) {
    const { instance, day, collectedAt, secret } = event.data;
    const decrypted = (await vault.open(siteSubject({ instance }), secret)) as
      | HitsCollected['data']['secret']
      | undefined;
    // The site is deleted.
    if (!decrypted) return;
    const cachedDay = await loadDay(instance, day);
    if (event.position <= cachedDay.at) return;
    count(cachedDay.counts, decrypted.hits, decrypted.visitors, collectedAt);
    cachedDay.at = event.position;
    dirty.set(dayId(instance, day), { cachedDay, event });
  }

  /** Encrypts the changed fields of the row; undefined if the site is deleted. */
  async function encryptChanges({ counts }: CachedDay, { data: { instance, day } }: Hits) {
    const subject = siteSubject({ instance });
    const fields: { [field: string]: string | undefined } = {
      summary: await vault.seal(subject, summaryOf(counts)),
      counts: await vault.seal(subject, serializeHead(counts)),
    };
    for (const list of counts.changed) {
      fields[`lists.${list}`] = await vault.seal(subject, serializeDayList(counts, list));
      await yieldIfDue();
    }
    return Object.values(fields).includes(undefined) ? undefined : { site: instance, day, ...fields };
  }

  async function flush() {
    const writes: RowWrite[] = [];
    for (const [id, { cachedDay, event }] of dirty) {
      const $set = await encryptChanges(cachedDay, event);
      if ($set) writes.push(positionGuarded({ put: id, update: { $set } }, event));
    }
    if (writes.length > 0) await build.write(DAYS, writes);
    for (const [id, { cachedDay }] of dirty) {
      cachedDay.counts.changed.clear();
      // Reinsert the entry, as the cache measures it only on insertion.
      cachedDays.delete(id);
      cachedDays.set(id, cachedDay);
    }
    dirty.clear();
  }

  const on: EventHandlers<RecordedEvent<CountEvent>, Promise<void>> = {
    HitsCollected: countHits,
    async SiteDeleted(event) {
      await flush();
      const { instance } = event.data;
      for (const id of [...cachedDays.keys()]) if (id.startsWith(dayId(instance, ''))) cachedDays.delete(id);
      await build.write(DAYS, [positionGuarded({ purge: { site: instance }, many: true }, event)]);
    },
    async DaysExpired(event) {
      await flush();
      const { before } = event.data;
      for (const id of [...cachedDays.keys()]) if (dayOfRowId(id) < before) cachedDays.delete(id);
      await build.write(DAYS, [positionGuarded({ purge: { day: { $lt: before } }, many: true }, event)]);
    },
  };

  return async (events) => {
    try {
      for (const event of events) {
        await handlerFor(on, event)?.(event);
        await yieldIfDue();
      }
      await flush();
    } catch (error) {
      // The cache may be ahead of the rows: reload from them.
      dirty.clear();
      cachedDays.clear();
      throw error;
    }
  };
}

/** Decrypts all rows for comparison, as two builds encrypt equal counts differently. */
async function* scan({ vault, collection }: Build): AsyncGenerator<Row> {
  const yieldIfDue = createYielder();
  for await (const { lists, ...row } of collection<DayRow>(DAYS).find({}, { sort: { _id: 1 } })) {
    const summary = await decryptSummary(vault, row as DayRow);
    const counts = await decryptCounts(vault, { ...row, lists } as DayRow, yieldIfDue);
    if (counts) yield { ...row, summary, counts: serializeDay(counts) } as Row;
  }
}

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
  readonly lists?: { readonly [list in StoredList]?: string };
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
  const serialized: { [list in StoredList]?: SerializedList } = {};
  for (const [list, ciphertext] of Object.entries(lists)) {
    serialized[list as StoredList] = ((await vault.open(subject, ciphertext)) ?? []) as SerializedList;
    await yieldIfDue();
  }
  return head && deserializeDay({ ...head, lists: serialized });
}

/** Decrypts the lists of a day that reports add up; empty if the site is deleted. */
export async function decryptTallies(
  vault: Vault,
  { site, lists = {} }: Pick<DayRow, 'site' | 'lists'>,
  names: SiteNames,
  yieldIfDue: () => Promise<void> | undefined,
): Promise<DayLists> {
  const subject = siteSubject({ instance: site });
  const all: { [list in TalliedList]?: Tally } = {};
  const { combinations: _, ...tallied } = lists;
  for (const [list, ciphertext] of Object.entries(tallied) as [TalliedList, string][]) {
    const serialized = (await vault.open(subject, ciphertext)) as SerializedList | undefined;
    if (serialized) all[list] = encodeTally(names[list], serialized);
    await yieldIfDue();
  }
  return all;
}

/** Decrypts the combinations of a day; empty if there are none or the site is deleted. */
export const decryptCombinations = async (vault: Vault, { site, lists }: Pick<DayRow, 'site' | 'lists'>) =>
  lists?.combinations === undefined
    ? []
    : (((await vault.open(siteSubject({ instance: site }), lists.combinations)) ?? []) as SerializedList);

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
