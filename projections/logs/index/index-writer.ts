/** Writes batches of records into a build; buffers many events in memory and writes them together. */
import { Binary } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import { decryptTexts } from '../../../application/logs/ingest/decrypt-batch.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { RecordsIngested } from '../../../domain/logs/batch.js';
import { type LogRecord, parseRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { Build, RowWrite } from '../../kernel/index.js';
import { decryptPieces } from './compress-and-seal.js';
import { type HourKey, type HourTally, hourId, resumeHour } from './hourly-counts.js';
import { bucketWrite, type Receipt, receiptWrite, requestWrites, sourceWrites } from './ingest-receipts.js';
import { type BatchRecord, createFullBlocks, isSmallBatch, loadOpenBlock, type OpenBlock } from './open-block.js';
import {
  BUCKETS,
  countedHours,
  HOURS,
  hourOf,
  isSectionsCollection,
  partitionOf,
  REQUESTS,
  SOURCES,
  sectionsCollection,
} from './partitions.js';
import { BLOCK_INDEXES, type BlockRow, type HourRow, replaceOlder } from './rows.js';
import { type Owner, type PlainBlock, type SealedBlock, sealBlock } from './seal-block.js';

/** Limits of cached hours and open blocks; evicted ones are reloaded from their rows. */
const MAX_CACHED = 1000;
/** Concurrency limits: a request's records may span hundreds of hours, and more would block store and event loop. */
const HOUR_BATCH = 64;
const MAX_CONCURRENT_PARTS = 16;
const MAX_CACHED_BYTES = 24 * 1024 * 1024;

/** Bytes buffered before an early write, to bound memory during a rebuild. */
const FLUSH_BYTES = 4 * 1024 * 1024;

interface CachedOpenBlock {
  readonly part: string;
  readonly block: OpenBlock;
  bytes: number;
}

/** Loads missing state from the rows; must be their only writer during its lifetime. */
export function createIndexWriter(build: Build) {
  const { vault } = build;
  const openBlocks = new Map<string, CachedOpenBlock>();
  const hours = new Map<string, HourTally>();
  const indexedParts = new Set<string>();
  const knownBuckets = new Set<string>();
  const receipts = new Map<string, Receipt>();
  const changed = { openBlocks: new Set<string>(), hours: new Set<string>() };
  const yieldIfDue = createYielder();
  let writes = new Map<string, RowWrite[]>();
  let bytes = 0;
  /** Bytes of all open blocks, kept up to date because summing a thousand per event would be too slow. */
  let openBlockBytes = 0;

  const write = (part: string, batch: readonly RowWrite[]) => {
    for (const each of batch) group(writes, part, each);
  };

  async function take(event: RecordedEvent<RecordsIngested>) {
    const { data } = event;
    const { producerId, receivedAt, audit, day: received } = data;
    write(SOURCES, sourceWrites(event));
    write(REQUESTS, requestWrites(event));
    const subject = bucketSubject(data);
    registerBucket(subject, event);
    const texts = await decryptTexts(vault, data);
    if (!texts) return;
    if (data.count > 0) {
      const last = Math.max(receipts.get(subject)?.last ?? 0, receivedAt);
      receipts.set(subject, { position: event.position, last });
    }
    const placed: BatchRecord[] = [];
    for (const [index, line] of texts.entries()) {
      const record = parseRecord(line, producerId, receivedAt);
      placed.push({ record, line, index });
      const pause = yieldIfDue();
      if (pause) await pause;
    }
    const instants = placed.map(({ record }) => record.instant);
    const countedHourSet = countedHours(instants, receivedAt);
    const byPart = new Map<string, BatchRecord[]>();
    const byHour = new Map<number, LogRecord[]>();
    for (const each of placed) {
      const { record } = each;
      group(byPart, partitionOf(record.instant, countedHourSet, audit), each);
      const hour = hourOf(record.instant);
      if (countedHourSet.has(hour)) group(byHour, hour, record);
    }
    await prepare([...byPart.keys()]);
    for (const [part, batch] of byPart) {
      registerBucket(subject, event, part);
      await addRecords(part, { subject, producerId, received }, event.position, batch);
    }
    await readHours(Array.from(byHour.keys(), (hour) => ({ hour, producerId, audit, received })));
    for (const [hour, batch] of byHour) {
      const id = hourId({ hour, producerId, audit, received });
      hours.get(id)!.add(event.position, batch);
      changed.hours.add(id);
    }
    if (openBlockBytes > MAX_CACHED_BYTES || hours.size > MAX_CACHED) await flush();
    else if (bytes > FLUSH_BYTES) await writeAll();
  }

  function registerBucket(subject: string, event: RecordedEvent<RecordsIngested>, part?: string) {
    const key = `${subject} ${part ?? ''}`;
    if (!knownBuckets.has(key)) write(BUCKETS, [bucketWrite(event, part)]);
    knownBuckets.add(key);
  }

  /** Creates indexes concurrently, because the store flushes them together. */
  async function prepare(parts: readonly string[]) {
    for (const batch of batches(
      parts.filter((part) => !indexedParts.has(part)),
      MAX_CONCURRENT_PARTS,
    )) {
      await Promise.all(batch.map((part) => build.collection(part).createIndexes(BLOCK_INDEXES)));
      for (const part of batch) indexedParts.add(part);
    }
  }

  async function addRecords(part: string, owner: Owner, position: bigint, batch: readonly BatchRecord[]) {
    if (!isSmallBatch(batch)) {
      for (const block of createFullBlocks(position, owner, batch)) await put(part, block);
      return;
    }
    const key = `${part} ${owner.subject}`;
    const cached: CachedOpenBlock = openBlocks.get(key) ?? {
      part,
      bytes: 0,
      block: await loadOpenBlock(build.collection<BlockRow>(part), owner, (row) => decryptPieces(vault, row)),
    };
    // Moves it to the end, so that the least recently used is evicted first.
    openBlocks.delete(key);
    openBlocks.set(key, cached);
    changed.openBlocks.add(key);
    const full = cached.block.add(position, batch);
    measure(cached);
    if (full) await put(part, full);
  }

  function measure(cached: CachedOpenBlock) {
    openBlockBytes -= cached.bytes;
    cached.bytes = cached.block.size();
    openBlockBytes += cached.bytes;
  }

  async function readHours(keys: readonly HourKey[]) {
    const missing = keys.filter((key) => !hours.has(hourId(key)));
    if (missing.length === 0) return;
    const filter = { _id: { $in: missing.map(hourId) } };
    const found = await build.collection<HourRow>(HOURS).find(filter).toArray();
    const rows = new Map(found.map((row) => [row._id, row]));
    for (const key of missing) {
      const id = hourId(key);
      hours.set(id, await resumeHour(vault, key, rows.get(id) ?? null));
      await yieldIfDue();
    }
  }

  /** Deletes the row when the key is destroyed. */
  async function put(part: string, block: PlainBlock) {
    const sealed = await sealBlock(vault, block);
    if (sealed) {
      write(sectionsCollection(part), sealed.sections.map(replaceOlder));
      write(part, [replaceOlder(sealed.row)]);
      bytes += sizeOf(sealed);
    } else write(part, [{ deleteOne: { filter: { _id: block.row._id } } }]);
    await yieldIfDue();
  }

  async function flush() {
    for (const key of changed.openBlocks) {
      const cached = openBlocks.get(key)!;
      const rest = cached.block.pack();
      if (rest) await put(cached.part, rest);
      measure(cached);
      if (bytes > FLUSH_BYTES) await writeAll();
    }
    changed.openBlocks.clear();
    for (const batch of batches([...changed.hours], HOUR_BATCH)) {
      const rows = await Promise.all(batch.map((id) => hours.get(id)!.row()));
      for (const row of rows) if (row) write(HOURS, [replaceOlder(row)]);
      await yieldIfDue();
    }
    changed.hours.clear();
    write(BUCKETS, Array.from(receipts, receiptWrite));
    receipts.clear();
    await writeAll();
    for (const [key, cached] of openBlocks) {
      if (openBlocks.size <= MAX_CACHED && openBlockBytes <= MAX_CACHED_BYTES) break;
      openBlockBytes -= cached.bytes;
      openBlocks.delete(key);
    }
    if (hours.size > MAX_CACHED) hours.clear();
    if (knownBuckets.size > MAX_CACHED) knownBuckets.clear();
  }

  async function writeAll() {
    const all = writes;
    writes = new Map();
    bytes = 0;
    // Sections first, so that a visible block is always readable.
    const [sections, rows] = [true, false].map((first) =>
      [...all].filter(([part]) => isSectionsCollection(part) === first),
    );
    for (const parts of [...batches(sections!, MAX_CONCURRENT_PARTS), ...batches(rows!, MAX_CONCURRENT_PARTS)])
      await Promise.all(parts.map(([part, batch]) => build.write(part, batch)));
  }

  return { take, flush };
}

function sizeOf({ row, sections }: SealedBlock): number {
  const values = [row.terms, ...(row.records ?? []), ...sections.flatMap((each) => Object.values(each.sections))];
  return values.reduce<number>((sum, each) => sum + (each instanceof Binary ? each.length() : 1), 0);
}

function* batches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function group<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item) {
  const batch = groups.get(key);
  if (batch) batch.push(item);
  else groups.set(key, [item]);
}
