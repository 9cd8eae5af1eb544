/** Aggregate of the days with a visitor key; a key is destroyed after its day. */
import type { Decider, Evolve, Rejection } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export const VISITOR_DAYS = 'analytics.visitors-main';

export interface VisitorDays {
  /** Days with an existing key, oldest first. */
  readonly open: readonly string[];
}

export type VisitorsCommand =
  /** `before`: the current day. */
  | {
      readonly type: 'OpenVisitorDay';
      readonly day: string;
      readonly before: string;
      readonly now: number;
    }
  | { readonly type: 'EndVisitorDays'; readonly before: string; readonly now: number };

export type VisitorsEvent = AnalyticsEvent<'VisitorDayOpened' | 'VisitorDayEnded'>;

/** Rejects delayed hits of an ended day: their visitors can no longer be distinguished. */
const DAY_OVER: Rejection = { rejected: 'analytics/day-over', kind: 'gone' };

function decide(command: VisitorsCommand, { open }: VisitorDays): readonly VisitorsEvent[] | Rejection {
  if (command.type === 'EndVisitorDays') {
    const ended = open.filter((day) => day < command.before);
    return ended.map((day) => ({ type: 'VisitorDayEnded', data: { day, endedAt: command.now } }));
  }
  const { day, now } = command;
  if (open.includes(day)) return [];
  // A day may be reopened: a clock running ahead may have ended it too early.
  return day < command.before ? DAY_OVER : [{ type: 'VisitorDayOpened', data: { day, openedAt: now } }];
}

const evolve: Evolve<VisitorDays, VisitorsEvent> = {
  VisitorDayOpened: ({ open }, { day }) => ({ open: [...open, day].sort() }),
  VisitorDayEnded: ({ open }, { day }) => ({ open: open.filter((each) => each !== day) }),
};

export const visitors: Decider<VisitorDays, VisitorsCommand, VisitorsEvent> = {
  initialState: { open: [] },
  decide,
  evolve,
};
