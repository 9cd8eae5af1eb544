/** Whose records of which day: under which key they are sealed, and in which streams they stand. */
import { type DataOf, object } from '../shared/index.js';
import { dayName, HOUR_MS } from './timestamp.js';

/** Whose records, and which of them: audit records are kept longer, so they stand apart. */
export const keeping = object({
  producerId: { type: 'string', minLength: 1 },
  /** `20261121`, UTC, of the receipt. */
  day: { type: 'string', pattern: '^\\d{8}$' },
  audit: { type: 'boolean' },
});

export type RetentionBucket = DataOf<typeof keeping>;

/** `logs.batch-api-2026-11-21-09`, by the day of the keeping and the hour of the receipt; audit records: `logs.audit-api-...`. */
export const batchStream = ({ producerId, day, audit }: RetentionBucket, receivedAt: number): string => {
  const hour = new Date(receivedAt).toISOString().slice(11, 13);
  return `${nameOf(producerId, audit)}-${day.replace(/(..)(..)$/, '-$1-$2')}-${hour}`;
};

/** Before when retention has ended what there was, Unix ms, each the start of a day. */
export interface EndedDays {
  readonly before: number;
  readonly auditBefore: number;
}

/**
 * The day that records are kept with: that of their receipt or, where a clock that was ahead has let go of this one,
 * the first that has not ended. Its key and its streams are gone for good.
 */
export const keptWith = (receivedAt: number, audit: boolean, { before, auditBefore }: EndedDays): string =>
  dayName(Math.max(receivedAt, audit ? auditBefore : before));

/** Where a request with an `Idempotency-Key` stands, its audit records apart: they are kept longer. */
export const requestStream = (commandId: string, audit: boolean): string =>
  `logs.${audit ? 'audit-' : ''}request-${commandId}`;

export const isRequestStream = (stream: string): boolean => /^logs\.(?:audit-)?request-/.test(stream);

/** All the streams that requests without a key share: one for every hour. */
export const streamsOf = (keeping: RetentionBucket): string[] =>
  Array.from({ length: 24 }, (_, hour) => batchStream(keeping, startOf(keeping.day) + hour * HOUR_MS));

/** The subject whose key seals them: `logs.batch-api-20261121`. */
export const bucketSubject = ({ producerId, day, audit }: RetentionBucket): string =>
  `${nameOf(producerId, audit)}-${day}`;

const nameOf = (producerId: string, audit: boolean) =>
  `logs.${audit ? 'audit' : 'batch'}-${producerId.replaceAll(/[^\w.-]/g, (sign) => `~${sign.charCodeAt(0)}`)}`;

const startOf = (day: string): number =>
  Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)));
