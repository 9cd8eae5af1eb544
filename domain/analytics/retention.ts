/** Retention aggregate: which days have expired. Rebuilds obey its events. Stream `analytics.retention-main`. */
import type { Decider } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export const RETENTION = 'analytics.retention-main';

export interface Retention {
  /** Days before this one have expired; empty if none have. */
  readonly before: string;
}

export interface ExpireDays {
  readonly type: 'ExpireDays';
  /** Days before this one expire, as `2026-11-22`. */
  readonly before: string;
  /** Number of daily rows to delete. */
  readonly rows: number;
  /** Raw records: start of the retained ones, Unix ms, and number of rows to delete. */
  readonly raw: { readonly before: number; readonly rows: number };
  readonly now: number;
}

export type DaysExpired = AnalyticsEvent<'DaysExpired'>;
export type RetentionEvent = AnalyticsEvent<'DaysExpired' | 'RawExpired'>;

export const retention: Decider<Retention, ExpireDays, RetentionEvent> = {
  initialState: { before: '' },
  // Never moves back, also when the retention is extended. A node with a slow clock may still
  // add rows before the limit.
  decide({ before, rows, raw, now: expiredAt }, { before: since }) {
    const expired: RetentionEvent[] = [];
    if (before > since || (before === since && rows > 0))
      expired.push({ type: 'DaysExpired', data: { before, since, rows, expiredAt } });
    if (raw.rows > 0) expired.push({ type: 'RawExpired', data: { ...raw, expiredAt } });
    return expired;
  },
  evolve: { DaysExpired: (_, { before }) => ({ before }), RawExpired: (state) => state },
};
