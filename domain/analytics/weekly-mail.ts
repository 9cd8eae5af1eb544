/**
 * Aggregate of all subscriptions to weekly mails about sites, each with the newest week that needs no mail any more.
 * Stream `analytics.weekly-mails-main`.
 */
import { type Decider, type Evolve, PersistentMap, type Rejection, rejection } from '../shared/index.js';
import type { AnalyticsEvent } from './catalog.js';
import { dayOf } from './hit.js';
import { DAY_MS, type Period } from './report.js';

export const WEEKLY_MAILS = 'analytics.weekly-mails-main';

/** Of all sites together. */
export const MAX_SUBSCRIPTIONS = 1000;

export interface Subscription {
  readonly subscriptionId: string;
  readonly siteId: string;
  /** Instance of the site. */
  readonly instance: string;
  /** Keyed digest of the email. */
  readonly addressId: string;
  readonly email: string;
  /** IANA name, such as `Europe/Berlin`. */
  readonly timeZone: string;
  /** Monday, as `2026-11-23`, of the newest mail that was sent, or due before the subscription. */
  readonly week: string;
}

/** By subscription id. */
export type WeeklyMailsState = PersistentMap<Subscription>;

export type WeeklyMailsCommand =
  | ({ readonly type: 'SubscribeWeeklyMail'; readonly now: number } & Omit<Subscription, 'week'>)
  | { readonly type: 'UnsubscribeWeeklyMail'; readonly subscriptionId: string; readonly now: number }
  /** Claims the right to send the mail of a week. */
  | { readonly type: 'ClaimWeeklyMail'; readonly subscriptionId: string; readonly week: string; readonly now: number };

export type WeeklyMailsEvent = AnalyticsEvent<'WeeklyMailSubscribed' | 'WeeklyMailUnsubscribed' | 'WeeklyMailClaimed'>;

const HOUR_MS = 3_600_000;
/** Local time at which mails are due, in ms after midnight. */
const MORNING_MS = 8 * HOUR_MS;
const WEEK_DAYS = 7;
/** 1 January 1970 was a Thursday. */
const DAYS_FROM_MONDAY = 3;

export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the Monday on which the newest mail was due: since 8:00 in the time zone, but not before the end of the week in
 * UTC, as days are counted in UTC. A zone that only another version of Node knows counts as UTC.
 */
export function dueWeek(now: number, zone: string): string {
  const timeZone = isTimeZone(zone) ? zone : 'UTC';
  // This locale formats as ISO 8601.
  const local = Date.parse(`${new Date(now).toLocaleString('sv-SE', { timeZone }).replace(' ', 'T')}Z`);
  const day = Math.floor((local - MORNING_MS) / DAY_MS);
  const monday = (day - ((day + DAYS_FROM_MONDAY) % WEEK_DAYS)) * DAY_MS;
  return dayOf(monday > now ? monday - WEEK_DAYS * DAY_MS : monday);
}

/** The seven days before a Monday, which its mail is about. */
export function periodOfWeek(monday: string): Period {
  const at = Date.parse(monday);
  return { days: WEEK_DAYS, start: dayOf(at - WEEK_DAYS * DAY_MS), end: dayOf(at - DAY_MS) };
}

export const findSubscription = (
  all: WeeklyMailsState,
  { instance, addressId }: Pick<Subscription, 'instance' | 'addressId'>,
): Subscription | undefined =>
  [...all.values()].find((each) => each.instance === instance && each.addressId === addressId);

const tooMany = rejection(
  'analytics/too-many-subscriptions',
  'invalid',
  `At most ${MAX_SUBSCRIPTIONS} weekly mails are allowed`,
);

function decide(command: WeeklyMailsCommand, all: WeeklyMailsState): readonly WeeklyMailsEvent[] | Rejection {
  const { subscriptionId, now } = command;
  if (command.type === 'SubscribeWeeklyMail') {
    const { siteId, instance, addressId, email, timeZone } = command;
    if (findSubscription(all, command)) return [];
    if (all.size >= MAX_SUBSCRIPTIONS) return tooMany;
    const week = dueWeek(now, timeZone);
    const data = { subscriptionId, siteId, instance, addressId, week, subscribedAt: now, secret: { email, timeZone } };
    return [{ type: 'WeeklyMailSubscribed', data }];
  }
  const subscription = all.get(subscriptionId);
  if (!subscription) return [];
  if (command.type === 'UnsubscribeWeeklyMail')
    return [{ type: 'WeeklyMailUnsubscribed', data: { subscriptionId, unsubscribedAt: now } }];
  const { week } = command;
  return week > subscription.week
    ? [{ type: 'WeeklyMailClaimed', data: { subscriptionId, week, claimedAt: now } }]
    : [];
}

const evolve: Evolve<WeeklyMailsState, WeeklyMailsEvent> = {
  WeeklyMailSubscribed: (all, { subscriptionId, siteId, instance, addressId, week, secret }) =>
    all.set(subscriptionId, { subscriptionId, siteId, instance, addressId, week, ...secret }),
  WeeklyMailUnsubscribed: (all, { subscriptionId }) => all.delete(subscriptionId),
  WeeklyMailClaimed(all, { subscriptionId, week }) {
    const subscription = all.get(subscriptionId);
    return subscription ? all.set(subscriptionId, { ...subscription, week }) : all;
  },
};

export const weeklyMails: Decider<WeeklyMailsState, WeeklyMailsCommand, WeeklyMailsEvent> = {
  initialState: PersistentMap.empty(),
  decide,
  evolve,
};
