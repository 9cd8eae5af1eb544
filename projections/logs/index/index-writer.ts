/** Writes batches of records into a build; buffers many events in memory and writes them together. */
import { Binary } from 'mongodb';
import { createBoundedParallel, createYielder } from '../../../application/concurrency/index.js';
import { decryptTexts } from '../../../application/logs/ingest/decrypt-batch.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { RecordsIngested } from '../../../domain/logs/batch.js';
import { type LogRecord, parseRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { Build, RowWrite } from '../../kernel/index.js';
import { decryptPieces } from './compress-and-seal.js';
import { countedHours, type HourKey, type HourTally, hourId, hourOf, resumeHour } from './hourly-counts.js';
import { bucketWrite, type Receipt, receiptWrite, requestWrites, sourceWrites } from './ingest-receipts.js';
import { type BatchRecord, createFullBlocks, isSmallBatch, loadOpenBlock, type OpenBlock } from './open-block.js';
import { type BlockRow, type ExpiryRow, type HourRow, partOf, replaceOlder } from './rows.js';
import { type Owner, type PlainBlock, type SealedBlock, sealBlock } from './seal-block.js';

/** Limits of cached hours and open blocks; evicted ones are reloaded from their rows. */
const MAX_CACHED = 1000;
/** Hours sealed concurrently: a request's records may span hundreds, and more would block the event loop. */
const HOUR_BATCH = 64;
const MAX_CACHED_BYTES = 24 * 1024 * 1024;

/** Bytes buffered before an early write, to bound memory during a rebuild; as many again are being written. */
const FLUSH_BYTES = 4 * 1024 * 1024;

interface CachedOpenBlock {
  readonly block: OpenBlock;
  bytes: number;
}

/** Loads missing state from the rows; must be their only writer during its lifetime. */
export function createIndexWriter(build: Build, expiry: ExpiryRow | null) {
  const { vault } = build;
  const openBlocks = new Map<string, CachedOpenBlock>();
  const hours = new Map<string, HourTally>();
  const knownBuckets = new Set<string>();
  const receipts = new Map<string, Receipt>();
  const changedHours = new Set<string>();
  const yieldIfDue = createYielder();
  /** One write at a time, while the next events are indexed. */
  const writing = createBoundedParallel(1);
  let writes = new Map<string, RowWrite[]>();
  let bytes = 0;
  /** Bytes of all open blocks, kept up to date because summing a thousand per event would be too slow. */
  let openBlockBytes = 0;

  const write = (collection: string, batch: readonly RowWrite[]) => {
    for (const each of batch) group(writes, collection, each);
  };

  async function take(event: RecordedEvent<RecordsIngested>) {
    const { data } = event;
    const { producerId, receivedAt, audit, day: received } = data;
    write('sources', sourceWrites(event));
    write('requests', requestWrites(event));
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
      const hour = hourOf(record.instant);
      const isCounted = countedHourSet.has(hour);
      group(byPart, partOf(record.instant, isCounted, audit), each);
      if (isCounted) group(byHour, hour, record);
    }
    for (const [part, batch] of byPart) {
      registerBucket(subject, event, part);
      await addRecords({ subject, producerId, received, audit, part }, event.position, batch);
    }
    await readHours(Array.from(byHour.keys(), (hour) => ({ hour, producerId, audit, received })));
    for (const [hour, batch] of byHour) {
      const id = hourId({ hour, producerId, audit, received });
      hours.get(id)!.add(event.position, batch);
      changedHours.add(id);
    }
    if (openBlockBytes > MAX_CACHED_BYTES || hours.size > MAX_CACHED) await flush();
    else if (bytes > FLUSH_BYTES) await startWriting();
  }

  function registerBucket(subject: string, event: RecordedEvent<RecordsIngested>, part?: string) {
    const key = `${subject} ${part ?? ''}`;
    if (!knownBuckets.has(key)) write('buckets', [bucketWrite(event, part)]);
    knownBuckets.add(key);
  }

  async function addRecords(owner: Owner, position: bigint, batch: readonly BatchRecord[]) {
    if (!isSmallBatch(batch)) {
      for await (const block of createFullBlocks(position, owner, batch)) await put(block);
      return;
    }
    const key = `${owner.part} ${owner.subject}`;
    const load = () => {
      const rows = build.collection<BlockRow>('blocks');
      return loadOpenBlock(rows, owner, expiry, (row) => decryptPieces(vault, row));
    };
    const cached = openBlocks.get(key) ?? { bytes: 0, block: await load() };
    // Moves it to the end, so that the least recently used is evicted first.
    openBlocks.delete(key);
    openBlocks.set(key, cached);
    const full = cached.block.add(position, batch);
    measure(cached);
    if (full) await put(full);
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
    const found = await build.collection<HourRow>('hours').find(filter).toArray();
    const rows = new Map(found.map((row) => [row._id, row]));
    for (const key of missing) {
      const id = hourId(key);
      hours.set(id, await resumeHour(vault, key, rows.get(id) ?? null));
      await yieldIfDue();
    }
  }

  /** Deletes the row when the key is destroyed. */
  async function put(block: PlainBlock) {
    const sealed = await sealBlock(vault, block);
    if (sealed) {
      write('sections', sealed.sections.map(replaceOlder));
      write('blocks', [replaceOlder(sealed.row)]);
      bytes += sizeOf(sealed);
    } else write('blocks', [{ deleteOne: { filter: { _id: block.row._id } } }]);
    await yieldIfDue();
  }

  async function flush() {
    for (const cached of openBlocks.values()) {
      const rest = cached.block.pack();
      if (!rest) continue;
      await put(rest);
      measure(cached);
      if (bytes > FLUSH_BYTES) await startWriting();
    }
    for (const hourIds = [...changedHours]; hourIds.length > 0; await yieldIfDue()) {
      const rows = await Promise.all(hourIds.splice(0, HOUR_BATCH).map((id) => hours.get(id)!.row()));
      for (const row of rows) if (row) write('hours', [replaceOlder(row)]);
    }
    changedHours.clear();
    write('buckets', Array.from(receipts, receiptWrite));
    receipts.clear();
    await startWriting();
    await writing.finish();
    for (const [key, cached] of openBlocks) {
      if (openBlocks.size <= MAX_CACHED && openBlockBytes <= MAX_CACHED_BYTES) break;
      openBlockBytes -= cached.bytes;
      openBlocks.delete(key);
    }
    if (hours.size > MAX_CACHED) hours.clear();
    if (knownBuckets.size > MAX_CACHED) knownBuckets.clear();
  }

  async function startWriting() {
    const { sections, ...others } = Object.fromEntries(writes);
    writes = new Map();
    bytes = 0;
    await writing.start(async () => {
      // Sections first, so that a visible block is always readable.
      if (sections) await build.write('sections', sections);
      const written = Object.entries(others).map(([collection, batch]) => build.write(collection, batch));
      // All have ended before a failure is reported.
      for (const each of await Promise.allSettled(written)) if (each.status === 'rejected') throw each.reason;
    });
  }

  return {
    take,
    flush,
    /** Waits for a write that is under way, whether it succeeds or not; the writer must not be used afterwards. */
    end: () => writing.finish().catch(() => {}),
  };
}

function sizeOf({ row, sections }: SealedBlock): number {
  const values = [row.terms, ...(row.records ?? []), ...sections.flatMap((each) => Object.values(each.sections))];
  return values.reduce<number>((sum, each) => sum + (each instanceof Binary ? each.length() : 1), 0);
}

function group<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item) {
  const batch = groups.get(key);
  if (batch) batch.push(item);
  else groups.set(key, [item]);
}
