/** What else a batch says: whose day it is of, how far its file was read, which streams only it is in. */
import type { UpdateFilter } from 'mongodb';
import type { Position, RecordedEvent } from '../../../application/ports/index.js';
import type { RecordsIngested } from '../../../domain/logs/batch.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { bucketSubject, isRequestStream } from '../../../domain/logs/retention-bucket.js';
import { type Build, longOf, positionGuarded, type Row, type RowUpdate, type RowWrite } from '../../kernel/index.js';
import { REQUESTS } from './partitions.js';
import type { RequestRow } from './rows.js';

type Ingested = RecordedEvent<RecordsIngested>;

export function sourceWrites(event: Ingested): RowWrite[] {
  const { source } = event.data;
  if (!source) return [];
  return [positionGuarded({ put: source.id, update: { $set: { offset: source.offset } } }, event)];
}

/** A request with a key has streams of its own: noted once for each, so that they can be ended. */
export function requestWrites(event: Ingested): RowWrite[] {
  if (event.revision > 0 || !isRequestStream(event.stream)) return [];
  const $set = { subject: bucketSubject(event.data) };
  return [positionGuarded({ put: event.stream, update: { $set } }, event)];
}

/** `part`: the collection that holds some of its records. */
export function keepingWrite({ data, position }: Ingested, part?: string): RowWrite {
  const { producerId, audit, day: received } = data;
  const row = { _at: longOf(position), producerId, received, audit };
  const update: RowUpdate = { $setOnInsert: row, ...(part && { $addToSet: { parts: part } }) };
  return {
    updateOne: { filter: { _id: bucketSubject(data) }, update: update as UpdateFilter<Row>, upsert: true },
  };
}

/** The last receipt of a keeping. */
export interface Receipt {
  /** Of its batch. */
  readonly position: Position;
  /** Unix ms: of the records that were received last. */
  readonly last: number;
}

/** `subject` is that of a keeping which is there. */
export const receiptWrite = ([subject, { position, last }]: readonly [string, Receipt]): RowWrite => ({
  updateOne: { filter: { _id: subject }, update: { $max: { last, _at: longOf(position) } } },
});

/** What a store marks in a fraction of a call's deadline: there may be a million of one day. */
const MARKED_AT_ONCE = 1000;

/** The streams of what was erased end in the days to come; their names are kept until then. */
export async function forgetRequests(
  build: Pick<Build, 'collection'>,
  erased: readonly RecordedEvent<LogsEvent<'BatchesErased'>>[],
): Promise<void> {
  const bySubject = new Map(erased.map((event) => [bucketSubject(event.data), event]));
  const rows = build.collection<RequestRow>(REQUESTS);
  const some = new Map<number, string[]>();
  let count = 0;
  const mark = async () => {
    for (const [at, ids] of some) await rows.updateMany({ _id: { $in: ids } }, { $set: { erasedAt: new Date(at) } });
    some.clear();
    count = 0;
  };
  const found = rows.find(
    { subject: { $in: [...bySubject.keys()] } },
    { projection: { subject: 1, _at: 1, erasedAt: 1 }, batchSize: MARKED_AT_ONCE },
  );
  // All are looked at, also those that are marked: to skip them would be much work of a store for nothing.
  for await (const { _id, _at, subject, erasedAt } of found) {
    const { position, recordedAt } = bySubject.get(subject)!;
    if (erasedAt || !_at.lessThan(longOf(position))) continue;
    const together = some.get(recordedAt) ?? [];
    together.push(_id);
    some.set(recordedAt, together);
    if (++count === MARKED_AT_ONCE) await mark();
  }
  await mark();
}
