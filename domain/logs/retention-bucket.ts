/** Retention buckets: the records of one producer and day share an encryption key and streams. */
import { type DataOf, object } from '../shared/index.js';
import { dayName, HOUR_MS } from './timestamp.js';

/** Audit records have buckets of their own, because they are retained longer. */
export const retentionBucket = object({
  producerId: { type: 'string', minLength: 1 },
  /** Day of receipt in UTC, `20261121`. */
  day: { type: 'string', pattern: '^\\d{8}$' },
  audit: { type: 'boolean' },
});

export type RetentionBucket = DataOf<typeof retentionBucket>;

/** `logs.batch-api-2026-11-21-09`: the bucket's day and the hour of receipt; for audit records `logs.audit-api-...`. */
export const batchStream = ({ producerId, day, audit }: RetentionBucket, receivedAt: number): string => {
  const hour = new Date(receivedAt).toISOString().slice(11, 13);
  return `${streamPrefix(producerId, audit)}-${day.replace(/(..)(..)$/, '-$1-$2')}-${hour}`;
};

/** Cutoffs of retention: start of a day, Unix ms; buckets of earlier days are closed. */
export interface EndedDays {
  readonly before: number;
  readonly auditBefore: number;
}

/**
 * The bucket day of new records: their day of receipt or, if a clock that ran ahead has closed it already, the first
 * open day. Keys and streams of closed days are destroyed for good.
 */
export const bucketDay = (receivedAt: number, audit: boolean, { before, auditBefore }: EndedDays): string =>
  dayName(Math.max(receivedAt, audit ? auditBefore : before));

/** Stream of a request with an `Idempotency-Key`; its audit records have another one, as they are retained longer. */
export const requestStream = (commandId: string, audit: boolean): string =>
  `logs.${audit ? 'audit-' : ''}request-${commandId}`;

export const isRequestStream = (stream: string): boolean => /^logs\.(?:audit-)?request-/.test(stream);

/** The 24 hourly streams of a bucket, shared by requests without a key. */
export const batchStreams = (retentionBucket: RetentionBucket): string[] =>
  Array.from({ length: 24 }, (_, hour) =>
    batchStream(retentionBucket, startOfBucketDay(retentionBucket.day) + hour * HOUR_MS),
  );

/** Key subject of a bucket: `logs.batch-api-20261121`. */
export const bucketSubject = ({ producerId, day, audit }: RetentionBucket): string =>
  `${streamPrefix(producerId, audit)}-${day}`;

const streamPrefix = (producerId: string, audit: boolean) =>
  `logs.${audit ? 'audit' : 'batch'}-${producerId.replaceAll(/[^\w.-]/g, (char) => `~${char.charCodeAt(0)}`)}`;

const startOfBucketDay = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
