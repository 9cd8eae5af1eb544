/** What is no longer kept, as a fact: a rebuild obeys it and brings nothing back. */
import type { Decider } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';
import type { RetentionBucket } from './retention-bucket.js';

export interface ExpireRecords {
  /** `EraseBatches` does only what ends with them: there may be more of that than one append holds. */
  readonly type: 'ExpireRecords' | 'EraseBatches';
  /** Start of a day in UTC, Unix ms: records of days before it go, by their own instant or by their receipt. */
  readonly before: number;
  /** The same for audit records. */
  readonly auditBefore: number;
  /** Whose keys and streams end with them. */
  readonly ended: readonly RetentionBucket[];
}

export type RetentionEvent = LogsEvent<'RecordsExpired' | 'BatchesErased'>;

export type RetentionState = LogsEvent<'RecordsExpired'>['data'];

export const RETENTION_STREAM = 'logs.retention-main';

export const retention: Decider<RetentionState, ExpireRecords, RetentionEvent> = {
  initialState: { before: 0, auditBefore: 0 },

  decide({ type, before, auditBefore, ended }, state) {
    // Never back: what has gone once stays gone, also when the retention is made longer.
    const next = {
      before: Math.max(before, state.before),
      auditBefore: Math.max(auditBefore, state.auditBefore),
    };
    if (next.before === state.before && next.auditBefore === state.auditBefore) return [];
    const erased = ended.map((data) => ({ type: 'BatchesErased', data }) as const);
    return type === 'EraseBatches' ? erased : [{ type: 'RecordsExpired', data: next }, ...erased];
  },

  evolve: { RecordsExpired: (_, expired) => expired, BatchesErased: (state) => state },
};
