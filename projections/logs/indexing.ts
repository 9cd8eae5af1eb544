/** Brings batches of records into a build: gathered in memory over many events, written once for all of them. */
import type { RecordedEvent } from '../../application/ports.js';
import { keepingSubject, type RecordsIngested, type SealedBatch, textsOf } from '../../domain/logs/batch.js';
import { readRecord } from '../../domain/logs/record.js';
import type { Build, RowWrite } from '../projection.js';
import { buildBlock } from './block.js';
import {
  blockId,
  type Gathering,
  OWN_BLOCK,
  type Owner,
  type Packed,
  type PlacedIn,
  packed,
  resumeGathering,
} from './gathering.js';
import { type HourKey, type HourTally, hourId, hourOf, resumeHour } from './hours.js';
import { HOURS, KEEPINGS, partOf, REQUESTS, SOURCES } from './parts.js';
import { keepingWrite, requestWrites, sourceWrites } from './requests.js';
import { BLOCK_INDEXES, type BlockRow, type HourRow } from './rows.js';

/** Past this many hours or gathering blocks all are forgotten, and read again when they are needed. */
const MOST_REMEMBERED = 1000;

/** A rebuild reads faster than is good for memory: what is this large is written before the batch ends. */
const FLUSH_CHARACTERS = 4 * 1024 * 1024;

export interface Indexing {
  take(event: RecordedEvent): Promise<void>;
  /** Writes all that was taken. */
  flush(): Promise<void>;
}

/** Knows what it has not forgotten from the rows; the only one that may write them while it lives. */
export function startIndexing(build: Build): Indexing {
  const gatherings = new Map<string, { readonly part: string; readonly gathering: Gathering }>();
  const hours = new Map<string, HourTally>();
  const prepared = new Set<string>();
  const keepings = new Set<string>();
  const changed = { gatherings: new Set<string>(), hours: new Set<string>() };
  let writes = new Map<string, RowWrite[]>();
  let characters = 0;

  const write = (part: string, some: readonly RowWrite[]) => {
    if (some.length > 0) writes.set(part, [...(writes.get(part) ?? []), ...some]);
  };

  async function take(event: RecordedEvent) {
    const data = event.data as SealedBatch;
    const { producerId, receivedAt, audit, day: received } = data;
    write(SOURCES, sourceWrites(event));
    write(REQUESTS, requestWrites(event));
    const subject = keepingSubject(data);
    if (!keepings.has(subject)) write(KEEPINGS, [keepingWrite(event)]);
    keepings.add(subject);
    const secret = await build.vault.open(subject, data.secret);
    if (!secret) return;
    const all = textsOf(secret as RecordsIngested['data']['secret']).map((text, place) => ({
      record: readRecord(text, producerId, receivedAt),
      place,
    }));
    const owner = { subject, producerId, received };
    for (const [part, some] of grouped(all, ({ record }) => partOf(record.instant, receivedAt, audit)))
      await place(part, owner, event.position, some);
    for (const [hour, some] of grouped(all, ({ record }) => hourOf(record.instant))) {
      const tally = await tallyOf({ hour, producerId, audit, received });
      tally.add(
        event.position,
        receivedAt,
        some.map(({ record }) => record),
      );
    }
    if (characters > FLUSH_CHARACTERS) await flush();
  }

  async function place(part: string, owner: Owner, position: bigint, some: readonly PlacedIn[]) {
    if (!prepared.has(part)) await build.collection(part).createIndexes(BLOCK_INDEXES);
    prepared.add(part);
    if (some.length >= OWN_BLOCK) {
      const block = buildBlock(owner.producerId);
      for (const { record, place } of some) block.add(record, position, place);
      write(part, [await sealed(packed(blockId(position), position, owner, block))]);
      return;
    }
    const key = `${part} ${owner.subject}`;
    const known = gatherings.get(key) ?? {
      part,
      gathering: await resumeGathering(build.collection<BlockRow>(part), owner, (sealed) =>
        build.vault.openText(owner.subject, sealed),
      ),
    };
    gatherings.set(key, known);
    changed.gatherings.add(key);
    const full = known.gathering.add(position, some);
    if (full) write(part, [await sealed(full)]);
  }

  async function tallyOf(key: HourKey): Promise<HourTally> {
    const id = hourId(key);
    changed.hours.add(id);
    const known = hours.get(id);
    if (known) return known;
    const tally = resumeHour(key, await build.collection<HourRow>(HOURS).findOne({ _id: id }));
    hours.set(id, tally);
    return tally;
  }

  async function sealed({ row, text, pieces, sealed: told }: Packed): Promise<RowWrite> {
    const piece = await build.vault.sealText(row.subject, text);
    if (piece === undefined) return { deleteOne: { filter: { _id: row._id } } };
    told?.(piece);
    const records = [...pieces, piece];
    characters += records.reduce((sum, each) => sum + each.length, 0);
    return replacing({ ...row, records });
  }

  async function flush() {
    for (const key of changed.gatherings) {
      const { part, gathering } = gatherings.get(key)!;
      const rest = gathering.pack();
      if (rest) write(part, [await sealed(rest)]);
    }
    write(
      HOURS,
      [...changed.hours].map((id) => replacing(hours.get(id)!.row())),
    );
    const all = writes;
    writes = new Map();
    characters = 0;
    changed.gatherings.clear();
    changed.hours.clear();
    await Promise.all(Array.from(all, ([part, some]) => build.write(part, some)));
    if (gatherings.size > MOST_REMEMBERED) gatherings.clear();
    if (hours.size > MOST_REMEMBERED) hours.clear();
    if (keepings.size > MOST_REMEMBERED) keepings.clear();
  }

  return { take, flush };
}

const replacing = (row: BlockRow | HourRow): RowWrite => ({
  replaceOne: { filter: { _id: row._id, _at: { $lt: row._at } }, replacement: { ...row }, upsert: true },
});

function grouped<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
