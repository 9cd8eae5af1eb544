/** Events of the analytics service: versions, schemas, and the fields encrypted with the site's key. */
import {
  type Catalog,
  count,
  type DataOf,
  type EventOf,
  event,
  flag,
  id,
  linkEvents,
  none,
  object,
  oneOf,
  sessionEnd,
  sessionFields,
  text,
  time,
} from '../shared/index.js';

/**
 * Key subject that encrypts a site and its hits. A site id can be reused after deletion; each site created under it is
 * an instance with its own key.
 */
export const siteSubject = ({ instance }: { readonly instance: string }): string => `analytics.site-${instance}`;

const texts = { type: 'array', items: text } as const;
/** `2026-11-22`, UTC. */
const day = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' } as const;

const inSite = { siteId: id, instance: id } as const;

/** A page view, or a custom event if `event` is set. Address and user agent are reduced to derived fields. */
const hit = object(
  { path: text },
  {
    event: id,
    /** Origin of the referring page. */
    referrer: id,
    /** A page view that was reached from a page of the site's own hosts. */
    isInternal: flag,
    campaign: object({ source: text, medium: text, campaign: text }),
    browser: id,
    os: id,
    device: id,
    country: id,
    properties: {
      type: 'array',
      items: object({ name: text, value: oneOf(text, { type: 'number' }, { type: 'boolean' }) }),
    },
  },
);
export type Hit = DataOf<typeof hit>;

const DAY_MS = 86_400_000;

/** Key subject that encrypts an email: one key per day on which the link or session expires. */
export const loginsSubject = ({ expiresAt }: { readonly expiresAt: number }): string =>
  loginsSubjectOf(Math.floor(expiresAt / DAY_MS));

/** Key subject by day number since 1970. */
export const loginsSubjectOf = (day: number): string => `analytics.logins-${day}`;

/** `userId`: a keyed digest of the email. `sessionId`: a keyed hash of the token. */
const session = object({ ...sessionFields, secret: object({ email: text }) });
const sealed = { sealed: { subject: loginsSubject, erased: { email: '' } } } as const;

export const loginEvents = {
  ...linkEvents(loginsSubject),
  SessionOpened: event(session, sealed),
  SessionRefreshed: event(session, sealed),
  SessionEnded: event(sessionEnd),
} as const;

/** `day`: `2026-11-22`, UTC. */
export const visitorSubject = ({ day }: { readonly day: string }): string => `analytics.visitors-${day}`;

/** Key subject that encrypts the address of a subscription to weekly mails. */
export const subscriptionSubject = ({ subscriptionId }: { readonly subscriptionId: string }): string =>
  `analytics.subscription-${subscriptionId}`;

const weeklyMailEvents = {
  /** `addressId`: a keyed digest of the email. `week`: Monday of the newest mail that was due before. */
  WeeklyMailSubscribed: event(
    object({
      subscriptionId: id,
      ...inSite,
      addressId: id,
      week: day,
      subscribedAt: time,
      secret: object({ email: text, timeZone: text }),
    }),
    { sealed: { subject: subscriptionSubject, erased: { email: '', timeZone: 'UTC' } } },
  ),
  WeeklyMailUnsubscribed: event(object({ subscriptionId: id, unsubscribedAt: time }), { erases: subscriptionSubject }),
  /** Appended before the mail of the week is sent, so that it is sent at most once. */
  WeeklyMailClaimed: event(object({ subscriptionId: id, week: day, claimedAt: time })),
} as const;

export const catalog = {
  service: 'analytics',
  events: {
    SiteRegistered: event(
      object({
        ...inSite,
        registeredAt: time,
        secret: object(
          { name: text, domains: texts, allowedEventProperties: texts, tokenHash: oneOf(id, none) },
          { goals: texts },
        ),
      }),
      {
        sealed: {
          subject: siteSubject,
          erased: { name: '', domains: [], allowedEventProperties: [], tokenHash: null },
        },
      },
    ),
    /** Holds only the changed fields. */
    SiteChanged: event(
      object({
        ...inSite,
        changedAt: time,
        secret: object(
          {},
          { name: text, domains: texts, allowedEventProperties: texts, tokenHash: oneOf(id, none), goals: texts },
        ),
      }),
      { sealed: { subject: siteSubject, erased: {} } },
    ),
    /** The reports have a public link. Its token is derived from `linkId` and is not in the log. */
    SiteShared: event(object({ ...inSite, linkId: id, sharedAt: time })),
    SiteUnshared: event(object({ ...inSite, unsharedAt: time })),
    /** `registeredAt` bounds the search for the site's day streams. `days`: number of days with counts. */
    SiteDeleted: event(object({ ...inSite, registeredAt: time, deletedAt: time }, { days: count }), {
      erases: siteSubject,
    }),
    /**
     * A batch of a site's hits, collected within milliseconds. `visitors`: visitor ids (16 hexadecimal digits) that the
     * writing node had not written on that day, sorted, so that they cannot be matched with hits. `isRaw`: also stored as
     * a raw record for debugging. `reasons`: only in the first event of a request with an `Idempotency-Key`; why each
     * payload was ignored, null if accepted; absent if all were accepted.
     */
    HitsCollected: event(
      object(
        {
          ...inSite,
          day,
          collectedAt: time,
          views: count,
          events: count,
          secret: object({ hits: { type: 'array', items: hit }, visitors: texts }),
        },
        { isRaw: flag, reasons: { type: 'array', items: oneOf(id, none) } },
      ),
      { sealed: { subject: siteSubject, erased: { hits: [], visitors: [] }, large: true } },
    ),
    /** The key that visitor ids of a day are hashed with was created. */
    VisitorDayOpened: event(object({ day, openedAt: time })),
    /** The day has ended; its key is destroyed, so visitor ids can no longer be computed. */
    VisitorDayEnded: event(object({ day, endedAt: time }), { erases: visitorSubject }),
    /** Counts of days before `before` have expired. `since`: the previous limit; `rows`: number of deleted rows. */
    DaysExpired: event(object({ before: day, since: { type: 'string' }, rows: count, expiredAt: time })),
    /** Raw records from before this instant have expired. `rows`: number of deleted rows. */
    RawExpired: event(object({ before: time, rows: count, expiredAt: time })),
    ...loginEvents,
    ...weeklyMailEvents,
  },
} as const satisfies Catalog;

type Analytics = typeof catalog;

/** Events of the analytics service: all, or those of the given types. */
export type AnalyticsEvent<Type extends keyof Analytics['events'] = keyof Analytics['events']> = EventOf<
  Analytics,
  Type
>;
