/** Lets days go that need not be kept: stated as a fact, obeyed by rows and by the log. */
import type { AnalyticsEvent } from '../../domain/analytics/catalog.js';
import { DAY_MS } from '../../domain/analytics/period.js';
import { RETENTION } from '../../domain/analytics/retention.js';
import { dayOf, trafficStream } from '../../domain/analytics/traffic.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../command/handle.js';
import type { Reaction } from '../follow/reactions.js';
import type { CertainClock, CommandContext, EventLog, Position, Settled } from '../ports.js';
import type { Directory } from './directory.js';
import { retentionKind } from './kinds.js';
import { DAYS_MODEL, type DayReader } from './report.js';

export interface CleanupPorts {
  readonly handle: Handle;
  readonly clock: CertainClock;
  readonly settled: Settled;
  readonly days: Pick<DayReader, 'countBefore'>;
  readonly retentionDays: number;
}

export interface Cleaned {
  /** The first day that is kept. */
  readonly before: string;
  readonly rows: number;
  readonly position: Position;
}

export const CLEANUP_EVERY_MS = 3_600_000;

const uncertain: Rejection = {
  rejected: 'analytics/clock-uncertain',
  kind: 'unavailable',
  detail: 'It is not certain what time it is, try again',
  retryAfterMs: 60_000,
};

export type Cleanup = ReturnType<typeof createCleanup>;

/** Whole days: today, and at least so many before it, are kept. */
export const createCleanup =
  ({ handle, clock, settled, days, retentionDays }: CleanupPorts) =>
  async (context: CommandContext): Promise<Cleaned | Rejection> => {
    const now = await clock.certain();
    if (now === undefined) return uncertain;
    const before = dayOf(now - retentionDays * DAY_MS);
    await settled.wait(DAYS_MODEL, settled.latestOf('analytics'));
    const command = { type: 'ExpireDays' as const, before, rows: await days.countBefore(before), now };
    const outcome = await handle(retentionKind, RETENTION, command, context);
    if (isRejection(outcome)) return outcome;
    const [expired] = outcome.events;
    const told = expired?.data ?? { before, rows: 0 };
    return { before: told.before, rows: told.rows, position: outcome.position };
  };

export interface ExpirePorts {
  readonly log: Pick<EventLog, 'read' | 'tombstone'>;
  readonly directory: Directory;
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
