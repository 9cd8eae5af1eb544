/** Reads and writes ingest metadata: retention buckets, file offsets and keyed-request streams. */
import type { Db, UpdateFilter } from 'mongodb';
import type { Position, RecordedEvent } from '../../../application/ports/index.js';
import type { RecordsIngested } from '../../../domain/logs/batch.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { bucketSubject, isRequestStream, type RetentionBucket } from '../../../domain/logs/retention-bucket.js';
import {
  assertBuildExists,
  type Build,
  longOf,
  positionGuarded,
  type Row,
  type RowUpdate,
  type RowWrite,
} from '../../kernel/index.js';
import { type RequestRow, rowsIn } from './rows.js';

type Ingested = RecordedEvent<RecordsIngested>;

export function sourceWrites(event: Ingested): RowWrite[] {
  const { source } = event.data;
  if (!source) return [];
  return [positionGuarded({ put: source.id, update: { $set: { offset: source.offset } } }, event)];
}

/** Records the stream of a keyed request once, so that it can be deleted on expiry. */
export function requestWrites(event: Ingested): RowWrite[] {
  if (event.revision > 0 || !isRequestStream(event.stream)) return [];
  const $set = { subject: bucketSubject(event.data) };
  return [positionGuarded({ put: event.stream, update: { $set } }, event)];
}

export function bucketWrite({ data, position }: Ingested, part?: string): RowWrite {
  const { producerId, audit, day: received } = data;
  const row = { _at: longOf(position), producerId, received, audit };
  const update: RowUpdate = { $setOnInsert: row, ...(part && { $addToSet: { parts: part } }) };
  return {
    updateOne: { filter: { _id: bucketSubject(data) }, update: update as UpdateFilter<Row>, upsert: true },
  };
}

export interface Receipt {
  readonly position: Position;
  readonly last: number;
}

export const receiptWrite = ([subject, { position, last }]: readonly [string, Receipt]): RowWrite => ({
  updateOne: { filter: { _id: subject }, update: { $max: { last, _at: longOf(position) } } },
});

/** Rows marked per store call, so that it stays within its deadline: a day may have a million. */
const MARK_BATCH = 1000;

/** Marks streams of erased buckets; their names are needed for a few days, until the streams are deleted. */
export async function markErasedRequests(
  build: Pick<Build, 'collection'>,
  erased: readonly RecordedEvent<LogsEvent<'BatchesErased'>>[],
): Promise<void> {
  const bySubject = new Map(erased.map((event) => [bucketSubject(event.data), event]));
  const rows = build.collection<RequestRow>('requests');
  const idsByTime = new Map<number, string[]>();
  let count = 0;
  const mark = async () => {
    for (const [at, ids] of idsByTime)
      await rows.updateMany({ _id: { $in: ids } }, { $set: { erasedAt: new Date(at) } });
    idsByTime.clear();
    count = 0;
  };
  const found = rows.find(
    { subject: { $in: [...bySubject.keys()] } },
    { projection: { subject: 1, _at: 1, erasedAt: 1 }, batchSize: MARK_BATCH },
  );
  // Reads marked rows too: skipping them would cost the store more.
  for await (const { _id, _at, subject, erasedAt } of found) {
    const { position, recordedAt } = bySubject.get(subject)!;
    if (erasedAt || !_at.lessThan(longOf(position))) continue;
    const ids = idsByTime.get(recordedAt) ?? [];
    ids.push(_id);
    idsByTime.set(recordedAt, ids);
    if (++count === MARK_BATCH) await mark();
  }
  await mark();
}

/** Reads ingest metadata. All methods reject with `UnavailableError` if the build is dropped meanwhile. */
export function createReceipts(db: Db, build: () => string | undefined) {
  async function readBuild<Found>(read: (name: string | undefined) => Promise<Found>): Promise<Found> {
    const name = build();
    const found = await read(name);
    await assertBuildExists(db, name);
    return found;
  }

  return {
    /** Streams of a bucket that hold one keyed request each. */
    async *requestStreams(bucket: RetentionBucket) {
      const name = build();
      const rows = rowsIn(db, name, 'requests');
      for await (const { _id } of rows.find({ subject: bucketSubject(bucket) })) yield _id;
      await assertBuildExists(db, name);
    },
    /** Bytes of a file that are ingested. */
    offset: (source: string) =>
      readBuild(async (name) => {
        const row = await rowsIn(db, name, 'sources').findOne({ _id: source });
        return row?.offset;
      }),
    /** Buckets received before a day. */
    receivedBefore: (day: string, audit: boolean) =>
      readBuild(async (name) => {
        const buckets = rowsIn(db, name, 'buckets');
        const rows = await buckets.find({ audit, received: { $lt: day } }).toArray();
        return rows.map(({ producerId, received }) => ({ producerId, day: received, audit }));
      }),
  };
}
