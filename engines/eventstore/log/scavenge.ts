/**
 * Scavenges: removes unreadable events from disk, in slices that do not block the event loop.
 *
 * lmdb only marks the pages of a removed value as free and keeps their bytes. So each value is overwritten before it
 * is removed, and at the end every free page is allocated once, filled with zeros and freed again, which also erases
 * older copies of pages.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { EventLog } from './event-log.js';
import { isMetastream, streamOfMetastream } from './metadata.js';
import { floorOf } from './read.js';
import { createdOf, isIntact, revisionOf, streamNameOf, TOMBSTONE } from './record.js';
import { pairKey, positionKey, readPosition } from './store.js';

/**
 * Removes unreadable events and wipes free pages; returns their number and bytes. Stops early on `signal`; the next
 * scavenge continues.
 */
export async function scavenge(log: EventLog, signal: AbortSignal) {
  let events = 0;
  let bytes = 0;
  // The newest event is kept: it defines the end of the log.
  const end = log.head().position;
  for (let next: number | undefined = 0; next !== undefined && !signal.aborted; await yieldToEventLoop()) {
    const from: number = next;
    const slice = await log.submit((now) => scavengeSlice(log, from, end, now));
    events += slice.events;
    bytes += slice.bytes;
    next = slice.next;
  }
  await wipeFreePages(log, signal);
  return { events, bytes };
}

/** Events examined per slice. */
const SLICE = 512;

function scavengeSlice(log: EventLog, from: number, end: number, now: number) {
  const { store } = log;
  const range = { start: positionKey(from), end: positionKey(end), limit: SLICE };
  const removable: { key: Buffer; record: Buffer }[] = [];
  let next: number | undefined;
  let scanned = 0;
  for (const { key, value } of store.log.getRange(range)) {
    scanned++;
    next = readPosition(key) + 1;
    if (isRemovable(log, value, now)) removable.push({ key, record: value });
  }
  if (removable.length > 0) log.clearTailCache();
  let bytes = 0;
  for (const { key, record } of removable) {
    bytes += record.length;
    store.log.put(key, Buffer.alloc(record.length));
  }
  for (const { key, record } of removable) {
    const stream = log.streams.written(streamNameOf(record))!;
    // The index loses the last revision, so the stream's row must store it.
    if (revisionOf(record) === stream.lastRevision) log.streams.put(stream);
    store.log.remove(key);
    store.revisions.remove(pairKey(stream.number, revisionOf(record)));
    if (stream.category !== 0) store.categoryPositions.remove(pairKey(stream.category, readPosition(key)));
  }
  return { events: removable.length, bytes, next: scanned < SLICE ? undefined : next };
}

function isRemovable(log: EventLog, record: Buffer, now: number): boolean {
  // A damaged record does not reliably name its stream.
  if (!isIntact(record)) return false;
  const name = streamNameOf(record);
  const revision = revisionOf(record);
  if (revision === TOMBSTONE) return false;
  const stream = log.streams.written(name);
  if (!stream) return false;
  if (stream.tombstoned) return true;
  if (isMetastream(name) && log.streams.written(streamOfMetastream(name))?.tombstoned) return true;
  if (revision < floorOf(stream)) return true;
  return stream.maxAge !== undefined && createdOf(record) < now - stream.maxAge;
}

/** Pages filled per transaction. */
const WIPE_BATCH = 64;
/** Room for lmdb's page header, so that a value takes exactly one page; lmdb zeroes the rest. */
const PAGE_HEADER = 64;

/** Fills free pages with zeros until the file starts to grow, then frees them again. */
async function wipeFreePages(log: EventLog, signal: AbortSignal): Promise<void> {
  const { environment, filler } = log.store;
  const { pageSize } = stats(environment);
  const zeros = Buffer.alloc(pageSize - PAGE_HEADER);
  await clear(log);
  for (let page = 0, exhausted = false; !exhausted && !signal.aborted; await yieldToEventLoop()) {
    const first = page;
    const before = stats(environment).lastPageNumber;
    await log.submit(() => {
      for (let i = 0; i < WIPE_BATCH; i++) filler.put(positionKey(first + i), zeros);
    });
    page += WIPE_BATCH;
    exhausted = stats(environment).lastPageNumber - before > WIPE_BATCH / 2;
  }
  await clear(log);
}

const clear = (log: EventLog): Promise<void> =>
  log.submit(() => {
    log.store.filler.clearAsync();
  });

function stats(environment: EventLog['store']['environment']): { pageSize: number; lastPageNumber: number } {
  const all: Record<string, unknown> = { ...environment.getStats() };
  return { pageSize: Number(all.pageSize), lastPageNumber: Number(all.lastPageNumber) };
}
