/** Batches of records on their way into the log: how a request is cut, and how large one is at most. */
import type { Sealed } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';
import { type EndedDays, keptWith } from './retention-bucket.js';

export type RecordsIngested = LogsEvent<'RecordsIngested'>;

/** NDJSON, every record as `exactText` writes it. Older batches have `records`, parsed. */
export type BatchSecret = RecordsIngested['data']['secret'];

/** A batch as it stands in the log. */
export type SealedBatch = Sealed<RecordsIngested>['data'];

/** Of a request as a whole, whatever its records: what it was answered. */
export type RequestReceipt = NonNullable<RecordsIngested['data']['request']>;

/** How far a file was read. */
export type Source = NonNullable<RecordsIngested['data']['source']>;

/** The JSON texts of the records of a batch, in their places. */
export function textsOf(secret: BatchSecret): readonly string[] {
  if ('records' in secret) return secret.records.map((record) => JSON.stringify(record));
  return secret.lines === '' ? [] : secret.lines.split('\n');
}

/** A record on its way into the log. */
export interface RecordText {
  /** As `exactText` writes it: no line has an end in it. */
  readonly json: string;
  /** Of the text, in UTF-8. */
  readonly bytes: number;
  readonly audit: boolean;
}

export interface Ingestion {
  readonly producerId: string;
  readonly receivedAt: number;
  readonly records: readonly RecordText[];
  readonly rejected: number;
  readonly source?: Source;
  /** None unless a clock was ahead. */
  readonly ended?: EndedDays;
}

/** The stored size of a batch stays under this many bytes, before compression. */
export const BATCH_BYTES = 512 * 1024;
const BATCH_RECORDS = 10_000;

const NONE_ENDED: EndedDays = { before: 0, auditBefore: 0 };

/** The batches of one request: audit records apart from the others, none larger than an append may be. */
export function batchesOf({ records, rejected, source, ...common }: Ingestion): RecordsIngested[] {
  const batches: RecordsIngested[] = [];
  for (const audit of [false, true])
    for (const some of pieces(records.filter((record) => record.audit === audit)))
      batches.push(batchOf(common, audit, some, batches.length === 0 ? rejected : 0));
  const last = batches.pop();
  // A file's offset goes with the last batch: it is only behind us when all the others are.
  return last ? [...batches, source ? { ...last, data: { ...last.data, source } } : last] : [];
}

/**
 * The same for streams that only this request has. The first tells of the request, and is there whatever became
 * of its records: who repeats the request learns from it what was answered.
 */
export function requestBatches(
  { records, ...common }: Omit<Ingestion, 'rejected' | 'source'>,
  request: RequestReceipt,
): { readonly first: readonly RecordsIngested[]; readonly audit: readonly RecordsIngested[] } {
  const of = (audit: boolean) => pieces(records.filter((record) => record.audit === audit));
  const [begin = [], ...more] = of(false);
  const first = batchOf(common, false, begin, request.rejected);
  return {
    first: [{ ...first, data: { ...first.data, request } }, ...more.map((some) => batchOf(common, false, some, 0))],
    audit: of(true).map((some) => batchOf(common, true, some, 0)),
  };
}

function batchOf(
  { producerId, receivedAt, ended = NONE_ENDED }: Pick<Ingestion, 'producerId' | 'receivedAt' | 'ended'>,
  audit: boolean,
  records: readonly RecordText[],
  rejected: number,
): RecordsIngested {
  const lines = records.map(({ json }) => json).join('\n');
  const count = records.length;
  const data = {
    producerId,
    day: keptWith(receivedAt, audit, ended),
    audit,
    count,
    receivedAt,
    rejected,
    secret: { lines },
  };
  return { type: 'RecordsIngested', data };
}

function pieces(records: readonly RecordText[]): RecordText[][] {
  const all: RecordText[][] = [];
  let room = 0;
  for (const record of records) {
    const bytes = record.bytes + 1;
    if (all.length === 0 || bytes > room || all.at(-1)!.length === BATCH_RECORDS) {
      all.push([]);
      room = BATCH_BYTES;
    }
    room -= bytes;
    all.at(-1)!.push(record);
  }
  return all;
}
