/** The days whose visitors can still be told apart: a key for each, which goes when its day is over. */
import type { Decider, Evolve, Rejection } from '../shared/decider.js';
import type { AnalyticsEvent } from './catalog.js';

export const VISITOR_DAYS = 'analytics.visitors-main';

export interface VisitorDays {
  /** With a key that was made and not destroyed, oldest first. */
  readonly open: readonly string[];
  /** The last day that has ended; empty where none has. */
  readonly ended: string;
}

export type VisitorsCommand =
  | { readonly type: 'OpenVisitorDay'; readonly day: string; readonly now: number }
  /** `before`: the day that it is. */
  | { readonly type: 'EndVisitorDays'; readonly before: string; readonly now: number };

export type VisitorsEvent = AnalyticsEvent<'VisitorDayOpened' | 'VisitorDayEnded'>;

/** By a clock that is behind: nobody can be told apart on that day any more. */
const DAY_OVER: Rejection = { rejected: 'analytics/day-over', kind: 'gone' };

function decide(
  command: VisitorsCommand,
  { open, ended }: VisitorDays,
): readonly VisitorsEvent[] | Rejection {
  if (command.type === 'EndVisitorDays') {
    const over = open.filter((day) => day < command.before);
    return over.map((day) => ({ type: 'VisitorDayEnded', data: { day, endedAt: command.now } }));
  }
  const { day, now } = command;
  if (open.includes(day)) return [];
  return day <= ended ? DAY_OVER : [{ type: 'VisitorDayOpened', data: { day, openedAt: now } }];
}

const evolve: Evolve<VisitorDays, VisitorsEvent> = {
  VisitorDayOpened: ({ open, ended }, { day }) => ({ open: [...open, day].sort(), ended }),
  // Days end in their order, and none is opened that is not after the last of them.
  VisitorDayEnded: ({ open }, { day }) => ({ open: open.filter((each) => each !== day), ended: day }),
};

export const visitors: Decider<VisitorDays, VisitorsCommand, VisitorsEvent> = {
  initialState: { open: [], ended: '' },
  decide,
  evolve,
};
