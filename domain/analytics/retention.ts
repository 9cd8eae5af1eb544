/** Which days are no longer kept, as a fact: a rebuild obeys it and brings nothing back. Stream `analytics.retention-main`. */
import type { Decider } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export const RETENTION = 'analytics.retention-main';

export interface Retention {
  /** Days before it have gone; empty where none have. */
  readonly before: string;
}

export interface ExpireDays {
  readonly type: 'ExpireDays';
  /** `2026-11-22`: days before it go. */
  readonly before: string;
  /** Rows of days that go with it. */
  readonly rows: number;
  /** Of the records for those who look for a fault: since when they are kept, Unix ms, and how many rows go. */
  readonly raw: { readonly before: number; readonly rows: number };
  readonly now: number;
}

export type DaysExpired = AnalyticsEvent<'DaysExpired'>;
export type RetentionEvent = AnalyticsEvent<'DaysExpired' | 'RawExpired'>;

export const retention: Decider<Retention, ExpireDays, RetentionEvent> = {
  initialState: { before: '' },
  // Never back: what has gone once stays gone, also when the retention is made longer. Of a node whose clock was behind
  // something may have come later.
  decide({ before, rows, raw, now: expiredAt }, { before: since }) {
    const expired: RetentionEvent[] = [];
    if (before > since || (before === since && rows > 0))
      expired.push({ type: 'DaysExpired', data: { before, since, rows, expiredAt } });
    if (raw.rows > 0) expired.push({ type: 'RawExpired', data: { ...raw, expiredAt } });
    return expired;
  },
  evolve: { DaysExpired: (_, { before }) => ({ before }), RawExpired: (state) => state },
};
