/**
 * Scavenging: what may not be read any more leaves the disk, in slices that hold nobody up.
 *
 * lmdb marks a removed value's page as free and keeps its bytes. So a value is overwritten before it is removed,
 * and at the end every free page is taken once, filled with zeros and given back: older copies of pages go with it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EventLog } from './event-log.js';
import { describedBy, isMetastream } from './metadata.js';
import { floorOf } from './read.js';
import { createdOf, isIntact, revisionOf, streamNameOf, TOMBSTONE } from './record.js';
import { pairKey, positionKey, readPosition } from './store.js';

export interface Scavenged {
  /** Events that left the disk, and their bytes. */
  readonly events: number;
  readonly bytes: number;
}

/** Removes what may not be read any more and wipes the free pages. Stops early on `signal`; the next one goes on. */
export async function scavenge(log: EventLog, signal: AbortSignal): Promise<Scavenged> {
  let events = 0;
  let bytes = 0;
  // The newest event stays: where the log ends is read from it.
  const end = log.head().position;
  for (let next: number | undefined = 0; next !== undefined && !signal.aborted; await nextTurn()) {
    const from: number = next;
    const slice = await log.submit((now) => scavengeSlice(log, from, end, now));
    events += slice.events;
    bytes += slice.bytes;
    next = slice.next;
  }
  await wipeFreePages(log, signal);
  return { events, bytes };
}

/** Events looked at in one slice. */
const SLICE = 512;

function scavengeSlice(
  log: EventLog,
  from: number,
  end: number,
  now: number,
): Scavenged & { next: number | undefined } {
  const { store } = log;
  const range = { start: positionKey(from), end: positionKey(end), limit: SLICE };
  const dead: { key: Buffer; record: Buffer }[] = [];
  let next: number | undefined;
  let looked = 0;
  for (const { key, value } of store.log.getRange(range)) {
    looked++;
    next = readPosition(key) + 1;
    if (isDead(log, value, now)) dead.push({ key, record: value });
  }
  if (dead.length > 0) log.forgetRecent();
  let bytes = 0;
  for (const { key, record } of dead) {
    bytes += record.length;
    store.log.put(key, Buffer.alloc(record.length));
  }
  for (const { key, record } of dead) {
    const stream = log.streams.written(streamNameOf(record))!;
    // The index no longer tells the last revision: the stream's row must.
    if (revisionOf(record) === stream.lastRevision) log.streams.put(stream);
    store.log.remove(key);
    store.revisions.remove(pairKey(stream.number, revisionOf(record)));
    if (stream.category !== 0) store.categoryPositions.remove(pairKey(stream.category, readPosition(key)));
  }
  return { events: dead.length, bytes, next: looked < SLICE ? undefined : next };
}

function isDead(log: EventLog, record: Buffer, now: number): boolean {
  // Whose it is can't be told.
  if (!isIntact(record)) return false;
  const name = streamNameOf(record);
  const revision = revisionOf(record);
  if (revision === TOMBSTONE) return false;
  const stream = log.streams.written(name);
  if (!stream) return false;
  if (stream.tombstoned) return true;
  if (isMetastream(name) && log.streams.written(describedBy(name))?.tombstoned) return true;
  if (revision < floorOf(stream)) return true;
  return stream.maxAge !== undefined && createdOf(record) < now - stream.maxAge;
}

/** Pages filled in one transaction. */
const WIPED_AT_ONCE = 64;
/** Leaves room for lmdb's page header, so that a value takes one page; lmdb zeroes the rest of it. */
const PAGE_HEADER = 64;

/** Takes free pages until the file grows instead, all filled with zeros, and frees them again. */
async function wipeFreePages(log: EventLog, signal: AbortSignal): Promise<void> {
  const { environment, filler } = log.store;
  const { pageSize } = stats(environment);
  const zeros = Buffer.alloc(pageSize - PAGE_HEADER);
  await clear(log);
  for (let page = 0, exhausted = false; !exhausted && !signal.aborted; await nextTurn()) {
    const first = page;
    const before = stats(environment).lastPageNumber;
    await log.submit(() => {
      for (let i = 0; i < WIPED_AT_ONCE; i++) filler.put(positionKey(first + i), zeros);
    });
    page += WIPED_AT_ONCE;
    exhausted = stats(environment).lastPageNumber - before > WIPED_AT_ONCE / 2;
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
