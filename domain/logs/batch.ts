/** Batches of records on their way into the log: in which stream, under whose key, how large at most. */
import type { DomainEvent } from '../shared/decider.js';
import { dayName } from './instant.js';
import type { JsonObject } from './json.js';
import { isAudit } from './record.js';

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
    readonly secret: { readonly records: readonly JsonObject[] };
  }
>;

/** A batch as it stands in the log. */
export type SealedBatch = Omit<RecordsIngested['data'], 'secret'> & { readonly secret: string };

export interface Source {
  /** Derived from the file's identity. */
  readonly id: string;
  /** Bytes of the file that are in the log once this batch is. */
  readonly offset: number;
}

export interface Ingestion {
  readonly producerId: string;
  readonly receivedAt: number;
  readonly records: readonly { readonly data: JsonObject; readonly bytes: number }[];
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

/** All the streams a keeping can have: one for every hour. */
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
export function batchesOf({
  producerId,
  receivedAt,
  records,
  rejected,
  source,
}: Ingestion): RecordsIngested[] {
  const batches: RecordsIngested[] = [];
  for (const audit of [false, true]) {
    const keeping = { producerId, day: dayName(receivedAt), audit };
    for (const some of pieces(records.filter(({ data }) => isAudit(data) === audit))) {
      const told = batches.length === 0 ? rejected : 0;
      const data = { ...keeping, count: some.length, receivedAt, rejected: told, secret: { records: some } };
      batches.push({ type: 'RecordsIngested', data });
    }
  }
  const last = batches.pop();
  // A file's offset goes with the last batch: it is only behind us when all the others are.
  return last ? [...batches, source ? { ...last, data: { ...last.data, source } } : last] : [];
}

function pieces(records: Ingestion['records']): JsonObject[][] {
  const all: JsonObject[][] = [];
  let room = 0;
  for (const { data, bytes } of records) {
    if (all.length === 0 || bytes > room || all.at(-1)!.length === BATCH_RECORDS) {
      all.push([]);
      room = BATCH_BYTES;
    }
    room -= bytes;
    all.at(-1)!.push(data);
  }
  return all;
}
