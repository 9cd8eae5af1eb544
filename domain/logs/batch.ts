/** Batches of records on their way into the log: in which stream, under whose key, how large at most. */
import type { DomainEvent } from '../shared/decider.js';
import { dayName } from './instant.js';
import type { JsonObject } from './json.js';

/** Whose records, and which of them: audit records are kept longer, so they stand apart. */
export interface Keeping {
  readonly producerId: string;
  /** `20261121`, UTC, of the receipt. */
  readonly day: string;
  readonly audit: boolean;
}

export type RecordsIngested = DomainEvent<
  'RecordsIngested',
  Keeping & {
    readonly count: number;
    /** Unix ms. */
    readonly receivedAt: number;
    /** Lines of the request that were no records; said with its first batch. */
    readonly rejected: number;
    /** How far a file was read with this batch. */
    readonly source?: Source;
    /** What its request was answered: with the first event of a request that had an `Idempotency-Key`. */
    readonly request?: ToldRequest;
    readonly secret: BatchSecret;
  }
>;

/** NDJSON, every record as `exactText` writes it. Older batches have `records`, parsed. */
export type BatchSecret = { readonly lines: string } | { readonly records: readonly JsonObject[] };

/** The JSON texts of the records of a batch, in their places. */
export function textsOf(secret: BatchSecret): readonly string[] {
  if ('records' in secret) return secret.records.map((record) => JSON.stringify(record));
  return secret.lines === '' ? [] : secret.lines.split('\n');
}

/** Of a request as a whole, whatever its records. */
export interface ToldRequest {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly line: number; readonly error: string }[];
}

/** A batch as it stands in the log. */
export type SealedBatch = Omit<RecordsIngested['data'], 'secret'> & { readonly secret: string };

export interface Source {
  /** Derived from the file's identity. */
  readonly id: string;
  /** Bytes of the file that are in the log once this batch is. */
  readonly offset: number;
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
}

/** The stored size of a batch stays under this many bytes, before compression. */
export const BATCH_BYTES = 512 * 1024;
const BATCH_RECORDS = 10_000;

/** `logs.batch-api-2026-11-21-09`; audit records: `logs.audit-api-...`. */
export const batchStream = ({ producerId, audit }: Keeping, receivedAt: number): string => {
  const hour = new Date(receivedAt).toISOString().slice(0, 13).replace('T', '-');
  return `${nameOf(producerId, audit)}-${hour}`;
};

/** Where a request with an `Idempotency-Key` stands, its audit records apart: they are kept longer. */
export const requestStream = (commandId: string, audit: boolean): string =>
  `logs.${audit ? 'audit-' : ''}request-${commandId}`;

export const isRequestStream = (stream: string): boolean => /^logs\.(?:audit-)?request-/.test(stream);

/** All the streams that requests without a key share: one for every hour. */
export const streamsOf = (keeping: Keeping): string[] =>
  Array.from({ length: 24 }, (_, hour) => batchStream(keeping, startOf(keeping.day) + hour * 3_600_000));

/** The subject whose key seals them: `logs.batch-api-20261121`. */
export const keepingSubject = ({ producerId, day, audit }: Keeping): string =>
  `${nameOf(producerId, audit)}-${day}`;

const nameOf = (producerId: string, audit: boolean) =>
  `logs.${audit ? 'audit' : 'batch'}-${producerId.replaceAll(/[^\w.-]/g, (sign) => `~${sign.charCodeAt(0)}`)}`;

export const startOf = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));

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
  request: ToldRequest,
): { readonly first: readonly RecordsIngested[]; readonly audit: readonly RecordsIngested[] } {
  const of = (audit: boolean) => pieces(records.filter((record) => record.audit === audit));
  const [begin = [], ...more] = of(false);
  const first = batchOf(common, false, begin, request.rejected);
  return {
    first: [
      { ...first, data: { ...first.data, request } },
      ...more.map((some) => batchOf(common, false, some, 0)),
    ],
    audit: of(true).map((some) => batchOf(common, true, some, 0)),
  };
}

function batchOf(
  { producerId, receivedAt }: Pick<Ingestion, 'producerId' | 'receivedAt'>,
  audit: boolean,
  records: readonly RecordText[],
  rejected: number,
): RecordsIngested {
  const lines = records.map(({ json }) => json).join('\n');
  const count = records.length;
  const data = {
    producerId,
    day: dayName(receivedAt),
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
