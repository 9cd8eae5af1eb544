/** Which days are no longer kept, as a fact: a rebuild obeys it and brings nothing back. Stream `analytics.retention-main`. */
import type { Decider } from '../shared/decider.js';
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
  readonly now: number;
}

export type DaysExpired = AnalyticsEvent<'DaysExpired'>;

export const retention: Decider<Retention, ExpireDays, DaysExpired> = {
  initialState: { before: '' },
  // Never back: what has gone once stays gone, also when the retention is made longer. Of a node whose clock was behind
  // something may have come later.
  decide: ({ before, rows, now }, { before: since }) =>
    before < since || (before === since && rows === 0)
      ? []
      : [{ type: 'DaysExpired', data: { before, since, rows, expiredAt: now } }],
  evolve: { DaysExpired: (_, { before }) => ({ before }) },
};
