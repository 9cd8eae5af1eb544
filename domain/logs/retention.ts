/** Retention cutoffs as events, so that a rebuild does not bring back expired records. */
import type { Decider } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';
import type { RetentionBucket } from './retention-bucket.js';

export interface ExpireRecords {
  /** `EraseBatches` only erases buckets: there may be more than fit the append of the cutoff. */
  readonly type: 'ExpireRecords' | 'EraseBatches';
  /** Start of a day in UTC, Unix ms: expires records with an earlier time or receipt. */
  readonly before: number;
  /** Cutoff of audit records. */
  readonly auditBefore: number;
  /** Buckets to erase, with their keys and streams. */
  readonly ended: readonly RetentionBucket[];
}

export type RetentionEvent = LogsEvent<'RecordsExpired' | 'BatchesErased'>;

export type RetentionState = LogsEvent<'RecordsExpired'>['data'];

export const RETENTION_STREAM = 'logs.retention-main';

export const retention: Decider<RetentionState, ExpireRecords, RetentionEvent> = {
  initialState: { before: 0, auditBefore: 0 },

  decide({ type, before, auditBefore, ended }, state) {
    // Never backwards: expired records stay expired when the retention is extended.
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
