/** What each site saw on each day: a report reads days, not hits. */
import { LRUCache } from 'lru-cache';
import { createYielder } from '../../application/concurrency/index.js';
import type { Position, RecordedEvent } from '../../application/ports/index.js';
import { type AnalyticsEvent, siteSubject } from '../../domain/analytics/catalog.js';
import {
  count,
  type DayCounts,
  emptyDay,
  summaryOf,
  serializeDay,
  serializeHead,
  serializeDayList,
} from '../../domain/analytics/day.js';
import type { HitsCollected } from '../../domain/analytics/hit-batch.js';
import { type EventHandlers, handlerFor } from '../../domain/shared/index.js';
import {
  type Apply,
  type Build,
  type OwnProjection,
  positionGuarded,
  type Row,
  type RowWrite,
} from '../kernel/index.js';
import {
  DAYS,
  DAYS_INDEXES,
  type DayRow,
  dayId,
  dayOfRowId,
  estimateCountsBytes,
  decryptCounts,
  decryptSummary,
} from './daily-counts-rows.js';

/** Of days that are remembered open; what comes to another is read again. */
const OPEN_BYTES = 24 * 1024 * 1024;

/** A list of a day is written as a whole, however few hits have come to it. */
export const DEBOUNCE_MS = 200;

export const days: OwnProjection = { name: 'analytics.days', version: 3, debounceMs: DEBOUNCE_MS, open, scan };

type Counting = AnalyticsEvent<'HitsCollected' | 'SiteDeleted' | 'DaysExpired'>;
type Hits = RecordedEvent<HitsCollected>;

interface Book {
  readonly counts: DayCounts;
  /** Of the last event that is counted. */
  at: Position;
}

async function open(build: Build): Promise<Apply> {
  const { vault } = build;
  const rows = build.collection<DayRow>(DAYS);
  await rows.createIndexes(DAYS_INDEXES);
  const books = new LRUCache<string, Book>({
    maxSize: OPEN_BYTES,
    sizeCalculation: ({ counts }) => estimateCountsBytes(counts),
  });
  /** To be written, by their ids, with the last event that came to each. */
  const dirty = new Map<string, { readonly book: Book; readonly event: Hits }>();
  const breathe = createYielder();

  async function bookOf(instance: string, day: string): Promise<Book> {
    const id = dayId(instance, day);
    const known = dirty.get(id)?.book ?? books.get(id);
    if (known) return known;
    const row = await rows.findOne({ _id: id });
    const counts = row ? await decryptCounts(vault, row, breathe) : undefined;
    const book = { counts: counts ?? emptyDay(), at: row?._at.toBigInt() ?? -1n };
    books.set(id, book);
    return book;
  }

  async function counted(event: Hits) {
    const { instance, day, secret } = event.data;
    const seen = (await vault.open(siteSubject({ instance }), secret)) as HitsCollected['data']['secret'] | undefined;
    // The site is deleted: nothing is left to be counted.
    if (!seen) return;
    const book = await bookOf(instance, day);
    if (event.position <= book.at) return;
    count(book.counts, seen.hits, seen.visitors);
    book.at = event.position;
    dirty.set(dayId(instance, day), { book, event });
  }

  /** The row as far as it is another one; undefined where the site is deleted. */
  async function written({ counts }: Book, { data: { instance, day } }: Hits) {
    const subject = siteSubject({ instance });
    const sealed: { [field: string]: string | undefined } = {
      summary: await vault.seal(subject, summaryOf(counts)),
      counts: await vault.seal(subject, serializeHead(counts)),
    };
    for (const list of counts.changed) {
      sealed[`lists.${list}`] = await vault.seal(subject, serializeDayList(counts, list));
      await breathe();
    }
    return Object.values(sealed).includes(undefined) ? undefined : { site: instance, day, ...sealed };
  }

  async function flush() {
    const writes: RowWrite[] = [];
    for (const [id, { book, event }] of dirty) {
      const $set = await written(book, event);
      if ($set) writes.push(positionGuarded({ put: id, update: { $set } }, event));
    }
    if (writes.length > 0) await build.write(DAYS, writes);
    for (const [id, { book }] of dirty) {
      book.counts.changed.clear();
      // It has grown, and is measured anew only as another one.
      books.delete(id);
      books.set(id, book);
    }
    dirty.clear();
  }

  const on: EventHandlers<RecordedEvent<Counting>, Promise<void>> = {
    HitsCollected: counted,
    async SiteDeleted(event) {
      await flush();
      const { instance } = event.data;
      for (const id of [...books.keys()]) if (id.startsWith(dayId(instance, ''))) books.delete(id);
      await build.write(DAYS, [positionGuarded({ purge: { site: instance }, many: true }, event)]);
    },
    async DaysExpired(event) {
      await flush();
      const { before } = event.data;
      for (const id of [...books.keys()]) if (dayOfRowId(id) < before) books.delete(id);
      await build.write(DAYS, [positionGuarded({ purge: { day: { $lt: before } }, many: true }, event)]);
    },
  };

  return async (events) => {
    try {
      for (const event of events) {
        await handlerFor(on, event)?.(event);
        await breathe();
      }
      await flush();
    } catch (error) {
      // What is remembered may be ahead of the rows: begin again from them.
      dirty.clear();
      books.clear();
      throw error;
    }
  };
}

/** With all opened: two builds seal the same differently. */
async function* scan({ vault, collection }: Build): AsyncGenerator<Row> {
  const breathe = createYielder();
  for await (const { lists, ...row } of collection<DayRow>(DAYS).find({}, { sort: { _id: 1 } })) {
    const summary = await decryptSummary(vault, row as DayRow);
    const counts = await decryptCounts(vault, { ...row, lists } as DayRow, breathe);
    if (counts) yield { ...row, summary, counts: serializeDay(counts) } as Row;
  }
}
