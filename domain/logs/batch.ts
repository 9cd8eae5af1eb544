/** Splits the records of a request into batches, one event each. */
import type { Sealed } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';
import { bucketDay, type EndedDays } from './retention-bucket.js';

export type RecordsIngested = LogsEvent<'RecordsIngested'>;

export type BatchSecret = RecordsIngested['data']['secret'];

/** Stored form of a batch, with encrypted records. */
export type SealedBatch = Sealed<RecordsIngested>['data'];

/** Receipt of the whole request, stored so that a repetition gets the same answer. */
export type RequestReceipt = NonNullable<RecordsIngested['data']['request']>;

/** File id, and the offset up to which the file was read. */
export type Source = NonNullable<RecordsIngested['data']['source']>;

/** JSON texts of the records. */
export const recordTexts = ({ lines }: BatchSecret): readonly string[] => (lines === '' ? [] : lines.split('\n'));

export interface RecordText {
  /** As written by `stringifyExact`, without line breaks. */
  readonly json: string;
  readonly bytes: number;
  readonly audit: boolean;
}

export interface Ingestion {
  readonly producerId: string;
  readonly receivedAt: number;
  readonly records: readonly RecordText[];
  readonly rejected: number;
  readonly source?: Source;
  /** Closed days; only relevant if a clock ran ahead. */
  readonly ended?: EndedDays;
}

/** The stored size of a batch stays under this many bytes, before compression. */
export const BATCH_BYTES = 512 * 1024;
const BATCH_RECORDS = 10_000;

const NO_CLOSED_DAYS: EndedDays = { before: 0, auditBefore: 0 };

/** Batches of one request: audit records are separated, and each batch fits one append. */
export function createBatches({ records, rejected, source, ...common }: Ingestion): RecordsIngested[] {
  const batches: RecordsIngested[] = [];
  for (const audit of [false, true])
    for (const part of splitBySize(records.filter((record) => record.audit === audit)))
      batches.push(batchOf(common, audit, part, batches.length === 0 ? rejected : 0));
  const last = batches.pop();
  // The last batch carries the file's offset, so the offset counts only once all batches are stored.
  return last ? [...batches, source ? { ...last, data: { ...last.data, source } } : last] : [];
}

/**
 * Batches for streams of this request only. The first batch holds the receipt and exists even without records, so that
 * a repetition finds the answer.
 */
export function createRequestBatches(
  { records, ...common }: Omit<Ingestion, 'rejected' | 'source'>,
  request: RequestReceipt,
): { readonly first: readonly RecordsIngested[]; readonly audit: readonly RecordsIngested[] } {
  const split = (audit: boolean) => splitBySize(records.filter((record) => record.audit === audit));
  const [firstPart = [], ...others] = split(false);
  const first = batchOf(common, false, firstPart, request.rejected);
  return {
    first: [{ ...first, data: { ...first.data, request } }, ...others.map((part) => batchOf(common, false, part, 0))],
    audit: split(true).map((part) => batchOf(common, true, part, 0)),
  };
}

function batchOf(
  { producerId, receivedAt, ended = NO_CLOSED_DAYS }: Pick<Ingestion, 'producerId' | 'receivedAt' | 'ended'>,
  audit: boolean,
  records: readonly RecordText[],
  rejected: number,
): RecordsIngested {
  const lines = records.map(({ json }) => json).join('\n');
  const count = records.length;
  const data = {
    producerId,
    day: bucketDay(receivedAt, audit, ended),
    audit,
    count,
    receivedAt,
    rejected,
    secret: { lines },
  };
  return { type: 'RecordsIngested', data };
}

function splitBySize(records: readonly RecordText[]): RecordText[][] {
  const parts: RecordText[][] = [];
  let available = 0;
  for (const record of records) {
    const bytes = record.bytes + 1;
    if (parts.length === 0 || bytes > available || parts.at(-1)!.length === BATCH_RECORDS) {
      parts.push([]);
      available = BATCH_BYTES;
    }
    available -= bytes;
    parts.at(-1)!.push(record);
  }
  return parts;
}
