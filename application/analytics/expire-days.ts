/** Lets days go that need not be kept: stated as a fact, obeyed by rows and by the log. */
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { dayOf, trafficStream } from '../../domain/analytics/hit-batch.js';
import { DAY_MS } from '../../domain/analytics/period.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { HandleCommand } from '../command/index.js';
import type { CommandContext, EventLog, Position, ProjectionProgress } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import type { LastingClock } from '../time/index.js';
import { retentionAggregate } from './aggregates.js';
import { DAYS_MODEL, type DayReader } from './report.js';
import type { SiteDirectory } from './site-directory.js';

export interface CleanupPorts {
  readonly handle: HandleCommand;
  readonly clock: LastingClock;
  readonly settled: ProjectionProgress;
  readonly days: Pick<DayReader, 'countBefore'>;
  readonly raw: RawCounter;
  readonly retentionDays: number;
  readonly rawRetentionHours: number;
}

/** Of records that are kept for those who look for a fault. */
export interface RawCounter {
  /** How many there are of before an instant, Unix ms. */
  countBefore(instant: number): Promise<number>;
}

export interface CleanupResult {
  /** The first day that is kept. */
  readonly before: string;
  readonly rows: number;
  /** Since when raw records are kept, Unix ms, and how many rows of them went. */
  readonly raw: { readonly before: number; readonly rows: number };
  readonly position: Position;
}

const HOUR_MS = 3_600_000;

const UNCERTAIN = 'analytics/clock-uncertain';

/** `waitsMs` where it is because the time has leapt. */
const uncertain = (waitsMs: number | undefined): Rejection => ({
  rejected: UNCERTAIN,
  kind: 'unavailable',
  detail:
    waitsMs === undefined
      ? 'The clocks of the server and of its event store are far apart: nothing goes until they agree'
      : `The time has gone on by more than a day since it was believed last: if that is right, what is old goes in ${Math.ceil(waitsMs / 60_000)} minutes`,
  retryAfterMs: waitsMs ?? 60_000,
});

export type Cleanup = ReturnType<typeof createCleanup>;

/** Whole days: today, and at least so many before it, are kept. */
export const createCleanup =
  ({ handle, clock, settled, days, raw, retentionDays, rawRetentionHours }: CleanupPorts) =>
  async (context: CommandContext): Promise<CleanupResult | Rejection> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return uncertain(clock.waitsMs());
    const before = dayOf(now - retentionDays * DAY_MS);
    await settled.wait(DAYS_MODEL, settled.latestOf('analytics'));
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
    let told: Omit<CleanupResult, 'position'> = { before, rows: 0, raw: { before: rawBefore, rows: 0 } };
    // As it was told first.
    for (const { type, data } of outcome.events)
      told = type === 'RawExpired' ? { ...told, raw: data } : { ...told, before: data.before, rows: data.rows };
    return { ...told, position: outcome.position };
  };

/** The same by the clock; while it is not certain what time it is, it waits for the next round. */
export const cleanupRound = (cleanup: Cleanup, context: () => CommandContext) => async (): Promise<void> => {
  const done = await cleanup(context());
  if (isRejection(done) && done.rejected !== UNCERTAIN) throw new Error(done.rejected);
};

export interface ExpirePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly directory: SiteDirectory;
}

/** Ends the streams of days that have expired. Each step does no harm when done again. */
export const expireReaction = ({ log, directory }: ExpirePorts): Reaction<AnalyticsEvent<'DaysExpired'>> => ({
  name: 'analytics.expire',
  on: {
    async DaysExpired({ data: { before, since }, position }) {
      const { state } = await directory.all(position);
      for (const { instance, createdAt } of state.values()) {
        // A day more: the clock of another node may have been behind.
        const from = Math.max(createdAt - DAY_MS, since === '' ? 0 : Date.parse(since) - DAY_MS);
        for (let at = from; dayOf(at) < before; at += DAY_MS) {
          const stream = trafficStream(instance, dayOf(at));
          if (typeof (await log.read(stream, { limit: 1 })) !== 'string') await log.tombstone(stream);
        }
      }
    },
  },
});
