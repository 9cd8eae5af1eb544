/** Brings batches of records into a build: gathered in memory over many events, written once for all of them. */
import { Binary } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import { decryptTexts } from '../../../application/logs/ingest/decrypt-batch.js';
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { RecordsIngested } from '../../../domain/logs/batch.js';
import { type LogRecord, parseRecord } from '../../../domain/logs/record.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { Build, RowWrite } from '../../kernel/index.js';
import { startRegistering } from './compact-filters.js';
import { openTexts } from './compress-and-seal.js';
import { type HourKey, type HourTally, hourId, resumeHour } from './hourly-counts.js';
import { keepingWrite, type Receipt, receiptWrite, requestWrites, sourceWrites } from './ingest-requests.js';
import { type Gathering, isGathered, ownBlocks, type PlacedIn, resumeGathering } from './open-block.js';
import {
  countedHours,
  HOURS,
  hourOf,
  isSections,
  KEEPINGS,
  partOf,
  REQUESTS,
  SOURCES,
  sectionsIn,
} from './partitions.js';
import { BLOCK_INDEXES, type BlockRow, type HourRow, replacing } from './rows.js';
import { type Owner, type Packed, type SealedBlock, sealBlock } from './seal-block.js';

/** Hours and gathering blocks beyond so many, or beyond so many bytes, are forgotten and read again when needed. */
const MOST_REMEMBERED = 1000;
/** A request can have records of hundreds of hours, and of many days. All at once, they would keep a store and the
 * loop from everything else, the lease that allows it too. */
const HOURS_SEALED = 64;
const PARTS_AT_ONCE = 16;
const BYTES_REMEMBERED = 24 * 1024 * 1024;

/** A rebuild reads faster than is good for memory: what is this large is written before the batch ends. */
const FLUSH_BYTES = 4 * 1024 * 1024;

/** A block that gathers, with what it took in memory when something was added last. */
interface Gathered {
  readonly part: string;
  readonly gathering: Gathering;
  bytes: number;
}

export interface Indexing {
  take(event: RecordedEvent<RecordsIngested>): Promise<void>;
  /** Writes all that was taken. */
  flush(): Promise<void>;
}

/** Knows what it has not forgotten from the rows; the only one that may write them while it lives. */
export function startIndexing(build: Build): Indexing {
  const { vault } = build;
  const gatherings = new Map<string, Gathered>();
  const hours = new Map<string, HourTally>();
  const prepared = new Set<string>();
  const keepings = new Set<string>();
  const receipts = new Map<string, Receipt>();
  const changed = { gatherings: new Set<string>(), hours: new Set<string>() };
  const breathe = createYielder();
  const registering = startRegistering(build);
  let writes = new Map<string, RowWrite[]>();
  let bytes = 0;
  /** Of all that gather: to add it up for every event would take longer than all else, where a thousand do. */
  let gatheredBytes = 0;

  const write = (part: string, some: readonly RowWrite[]) => {
    for (const each of some) group(writes, part, each);
  };

  async function take(event: RecordedEvent<RecordsIngested>) {
    const { data } = event;
    const { producerId, receivedAt, audit, day: received } = data;
    write(SOURCES, sourceWrites(event));
    write(REQUESTS, requestWrites(event));
    const subject = bucketSubject(data);
    keep(subject, event);
    const texts = await decryptTexts(vault, data);
    if (!texts) return;
    if (data.count > 0) {
      const last = Math.max(receipts.get(subject)?.last ?? 0, receivedAt);
      receipts.set(subject, { position: event.position, last });
    }
    const all: PlacedIn[] = [];
    for (const [place, line] of texts.entries()) {
      const record = parseRecord(line, producerId, receivedAt);
      all.push({ record, line, place });
      const pause = breathe();
      if (pause) await pause;
    }
    const instants = all.map(({ record }) => record.instant);
    const counted = countedHours(instants, receivedAt);
    const byPart = new Map<string, PlacedIn[]>();
    const byHour = new Map<number, LogRecord[]>();
    for (const each of all) {
      const { record } = each;
      group(byPart, partOf(record.instant, counted, audit), each);
      const hour = hourOf(record.instant);
      if (counted.has(hour)) group(byHour, hour, record);
    }
    await prepare([...byPart.keys()]);
    for (const [part, some] of byPart) {
      keep(subject, event, part);
      await place(part, { subject, producerId, received }, event.position, some);
    }
    await readHours(Array.from(byHour.keys(), (hour) => ({ hour, producerId, audit, received })));
    for (const [hour, some] of byHour) {
      const id = hourId({ hour, producerId, audit, received });
      hours.get(id)!.add(event.position, some);
      changed.hours.add(id);
    }
    if (gatheredBytes > BYTES_REMEMBERED || hours.size > MOST_REMEMBERED) await flush();
    else if (bytes > FLUSH_BYTES) await writeAll();
  }

  /** That there are records of this producer and day, and in which collection. */
  function keep(subject: string, event: RecordedEvent<RecordsIngested>, part?: string) {
    const key = `${subject} ${part ?? ''}`;
    if (!keepings.has(key)) write(KEEPINGS, [keepingWrite(event, part)]);
    keepings.add(key);
  }

  /** Many at once: a store flushes them together. */
  async function prepare(parts: readonly string[]) {
    for (const some of chunks(
      parts.filter((part) => !prepared.has(part)),
      PARTS_AT_ONCE,
    )) {
      await Promise.all(some.map((part) => build.collection(part).createIndexes(BLOCK_INDEXES)));
      for (const part of some) prepared.add(part);
    }
  }

  async function place(part: string, owner: Owner, position: bigint, some: readonly PlacedIn[]) {
    if (!isGathered(some)) {
      for (const block of ownBlocks(position, owner, some)) await put(part, block);
      return;
    }
    const key = `${part} ${owner.subject}`;
    const known: Gathered = gatherings.get(key) ?? {
      part,
      bytes: 0,
      gathering: await resumeGathering(build.collection<BlockRow>(part), owner, (row) => openTexts(vault, row)),
    };
    // To the end: those that nothing came to for longest are forgotten first.
    gatherings.delete(key);
    gatherings.set(key, known);
    changed.gatherings.add(key);
    const full = known.gathering.add(position, some);
    measure(known);
    if (full) await put(part, full);
  }

  function measure(known: Gathered) {
    gatheredBytes -= known.bytes;
    known.bytes = known.gathering.size();
    gatheredBytes += known.bytes;
  }

  /** So that all of them are remembered. */
  async function readHours(keys: readonly HourKey[]) {
    const missing = keys.filter((key) => !hours.has(hourId(key)));
    if (missing.length === 0) return;
    const asked = { _id: { $in: missing.map(hourId) } };
    const found = await build.collection<HourRow>(HOURS).find(asked).toArray();
    const rows = new Map(found.map((row) => [row._id, row]));
    for (const key of missing) {
      const id = hourId(key);
      hours.set(id, await resumeHour(vault, key, rows.get(id) ?? null));
      await breathe();
    }
  }

  /** Without the key the row goes. */
  async function put(part: string, block: Packed) {
    const sealed = await sealBlock(vault, block);
    if (sealed) {
      write(sectionsIn(part), sealed.sections.map(replacing));
      if (sealed.register) {
        write(sectionsIn(part), [replacing(sealed.register)]);
        registering.note(part, sealed.row.subject);
      }
      write(part, [replacing(sealed.row)]);
      bytes += sizeOf(sealed);
    } else write(part, [{ deleteOne: { filter: { _id: block.row._id } } }]);
    await breathe();
  }

  async function flush() {
    for (const key of changed.gatherings) {
      const known = gatherings.get(key)!;
      const rest = known.gathering.pack();
      if (rest) await put(known.part, rest);
      measure(known);
      if (bytes > FLUSH_BYTES) await writeAll();
    }
    changed.gatherings.clear();
    for (const some of chunks([...changed.hours], HOURS_SEALED)) {
      const rows = await Promise.all(some.map((id) => hours.get(id)!.row()));
      for (const row of rows) if (row) write(HOURS, [replacing(row)]);
      await breathe();
    }
    changed.hours.clear();
    write(KEEPINGS, Array.from(receipts, receiptWrite));
    receipts.clear();
    await writeAll();
    await registering.gather();
    for (const [key, known] of gatherings) {
      if (gatherings.size <= MOST_REMEMBERED && gatheredBytes <= BYTES_REMEMBERED) break;
      gatheredBytes -= known.bytes;
      gatherings.delete(key);
    }
    if (hours.size > MOST_REMEMBERED) hours.clear();
    if (keepings.size > MOST_REMEMBERED) keepings.clear();
  }

  async function writeAll() {
    const all = writes;
    writes = new Map();
    bytes = 0;
    // Who sees a block finds what it is made of.
    const [sections, rows] = [true, false].map((first) => [...all].filter(([part]) => isSections(part) === first));
    for (const parts of [...chunks(sections!, PARTS_AT_ONCE), ...chunks(rows!, PARTS_AT_ONCE)])
      await Promise.all(parts.map(([part, some]) => build.write(part, some)));
  }

  return { take, flush };
}

/** About, in bytes. */
function sizeOf({ row, sections, register }: SealedBlock): number {
  const all = [
    row.terms,
    ...(row.records ?? []),
    ...[...sections, ...(register ? [register] : [])].flatMap((each) => Object.values(each.sections ?? {})),
  ];
  return all.reduce<number>((sum, each) => sum + (each instanceof Binary ? each.length() : 1), 0);
}

function* chunks<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

function group<Key, Item>(groups: Map<Key, Item[]>, key: Key, item: Item) {
  const some = groups.get(key);
  if (some) some.push(item);
  else groups.set(key, [item]);
}
