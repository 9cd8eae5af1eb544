/** The days whose visitors can still be told apart: a key for each, which goes when its day is over. */
import type { Decider, Evolve, Rejection } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';

export const VISITOR_DAYS = 'analytics.visitors-main';

export interface VisitorDays {
  /** With a key that was made and not destroyed, oldest first. */
  readonly open: readonly string[];
}

export type VisitorsCommand =
  /** `before`: the day that it is. */
  | {
      readonly type: 'OpenVisitorDay';
      readonly day: string;
      readonly before: string;
      readonly now: number;
    }
  | { readonly type: 'EndVisitorDays'; readonly before: string; readonly now: number };

export type VisitorsEvent = AnalyticsEvent<'VisitorDayOpened' | 'VisitorDayEnded'>;

/** Of a hit that took too long: nobody can be told apart on that day any more. */
const DAY_OVER: Rejection = { rejected: 'analytics/day-over', kind: 'gone' };

function decide(command: VisitorsCommand, { open }: VisitorDays): readonly VisitorsEvent[] | Rejection {
  if (command.type === 'EndVisitorDays') {
    const over = open.filter((day) => day < command.before);
    return over.map((day) => ({ type: 'VisitorDayEnded', data: { day, endedAt: command.now } }));
  }
  const { day, now } = command;
  if (open.includes(day)) return [];
  // Also one that has ended before: by a clock that was ahead, and is right now.
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
