/** Retention: records `DaysExpired` for old days and deletes their rows and streams. */

import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { dayOf, trafficStream } from '../../domain/analytics/hit.js';
import { DAY_MS } from '../../domain/analytics/report.js';
import { RETENTION, type Retention } from '../../domain/analytics/retention.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { AggregateStore, KernelPorts } from '../command/index.js';
import type { CommandContext, ConfirmedClock, EventLog, Position } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { retentionAggregate } from './aggregates.js';
import { DAYS_MODEL, type DayReader } from './report.js';
import type { SiteDirectory } from './sites.js';

export interface CleanupPorts extends Pick<KernelPorts, 'handle' | 'projectionProgress'> {
  readonly clock: ConfirmedClock;
  readonly days: Pick<DayReader, 'countBefore'>;
  readonly raw: RawCounter;
  readonly retentionDays: number;
  readonly rawRetentionHours: number;
}

/** Counts raw records. */
export interface RawCounter {
  /** Number of records before an instant, Unix ms. */
  countBefore(instant: number): Promise<number>;
}

export interface CleanupResult {
  /** First retained day. */
  readonly before: string;
  readonly rows: number;
  /** Start of the retained raw records, Unix ms, and number of deleted rows. */
  readonly raw: { readonly before: number; readonly rows: number };
  readonly position: Position;
}

const HOUR_MS = 3_600_000;

const UNCERTAIN: Rejection = {
  rejected: 'analytics/clock-uncertain',
  kind: 'unavailable',
  detail: 'The clocks of the server and its event store differ: nothing is deleted until they agree',
  retryAfterMs: 60_000,
};

export type Cleanup = ReturnType<typeof createCleanup>;

/** Deletes whole days. Today and `retentionDays` before it are kept. */
export const createCleanup =
  ({ handle, clock, projectionProgress, days, raw, retentionDays, rawRetentionHours }: CleanupPorts) =>
  async (context: CommandContext): Promise<CleanupResult | Rejection> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return UNCERTAIN;
    const before = dayOf(now - retentionDays * DAY_MS);
    await projectionProgress.wait(DAYS_MODEL, projectionProgress.latestOf('analytics'));
    const rawBefore = now - rawRetentionHours * HOUR_MS;
    const command = {
      type: 'ExpireDays' as const,
      before,
      rows: await days.countBefore(before),
      raw: { before: rawBefore, rows: await raw.countBefore(rawBefore) },
      now,
    };
    const outcome = await handle(retentionAggregate, RETENTION, command, context);
    if (isRejection(outcome)) return outcome;
    let result: Omit<CleanupResult, 'position'> = { before, rows: 0, raw: { before: rawBefore, rows: 0 } };
    // A repeated command answers with the events of its first run.
    for (const { type, data } of outcome.events)
      result = type === 'RawExpired' ? { ...result, raw: data } : { ...result, before: data.before, rows: data.rows };
    return { ...result, position: outcome.position };
  };

/** Scheduled cleanup; does nothing while the time is unconfirmed. */
export const cleanupRound = (cleanup: Cleanup, context: () => CommandContext) => async (): Promise<void> => {
  const result = await cleanup(context());
  if (isRejection(result) && result !== UNCERTAIN) throw new Error(result.rejected);
};

export interface ExpirePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly directory: SiteDirectory;
}

/** Tombstones the streams of expired days; idempotent. */
export const expireReaction = ({ log, directory }: ExpirePorts): Reaction<AnalyticsEvent<'DaysExpired'>> => ({
  name: 'analytics.expire',
  on: {
    async DaysExpired({ data: { before, since }, position }) {
      const { state } = await directory.all(position);
      for (const { instance, createdAt } of state.values()) {
        // One extra day, as the clock of another node may have been behind.
        const from = Math.max(createdAt - DAY_MS, since === '' ? 0 : Date.parse(since) - DAY_MS);
        for (let at = from; dayOf(at) < before; at += DAY_MS) {
          const stream = trafficStream(instance, dayOf(at));
          if (typeof (await log.read(stream, { limit: 1 })) !== 'string') await log.tombstone(stream);
        }
      }
    },
  },
});

/** Creates a reader of which days have expired. */
export const createRetentionReader = (aggregates: Pick<AggregateStore, 'load'>) => async (): Promise<Retention> =>
  (await aggregates.load(retentionAggregate, RETENTION)).state;
