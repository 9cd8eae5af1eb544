/** Every event of the analytics service: its versions, schemas, and what of it is sealed under the site's key. */
import { type Catalog, type DataOf, type EventOf, event, object, oneOf } from '../shared/index.js';
import { loginEvents } from './login-events.js';
import { visitorSubject } from './visitor-key-subject.js';

/**
 * The subject whose key seals a site, and all that was seen on it. A site that was deleted may be made again under its
 * id: each life of it is an instance, with a key of its own.
 */
export const siteSubject = ({ instance }: { readonly instance: string }): string => `analytics.site-${instance}`;

const id = { type: 'string', minLength: 1 } as const;
const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const time = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 0 } as const;
/** `2026-11-22`, UTC. */
const day = { type: 'string', pattern: '^\\d{4}-\\d\\d-\\d\\d$' } as const;
const none = { type: 'null' } as const;

const inSite = { siteId: id, instance: id } as const;

/** A view of a page, or with `event` a custom event on it. No address and no user agent: only what these say. */
const hit = object(
  { path: text },
  {
    event: id,
    /** An origin. */
    referrer: id,
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

export const catalog = {
  service: 'analytics',
  events: {
    SiteRegistered: event(
      object({
        ...inSite,
        registeredAt: time,
        secret: object({
          name: text,
          domains: texts,
          allowedEventProperties: texts,
          tokenHash: oneOf(id, none),
        }),
      }),
      {
        sealed: {
          subject: siteSubject,
          erased: { name: '', domains: [], allowedEventProperties: [], tokenHash: null },
        },
      },
    ),
    /** Holds what changed and nothing else. */
    SiteChanged: event(
      object({
        ...inSite,
        changedAt: time,
        secret: object({}, { name: text, domains: texts, allowedEventProperties: texts, tokenHash: oneOf(id, none) }),
      }),
      { sealed: { subject: siteSubject, erased: {} } },
    ),
    /** `registeredAt`: since when it was there, so that all its days are found. `days`: how many were counted of it. */
    SiteDeleted: event(object({ ...inSite, registeredAt: time, deletedAt: time }, { days: count }), {
      erases: siteSubject,
    }),
    /**
     * What a site saw within some milliseconds of a day. `visitors` are those whom the node that wrote it had not met on
     * that day, as 16 hexadecimal digits each, in an order of their own: nobody's hits can be told from others'.
     * `isRaw`: a record of it is kept for those who look for a fault. `reasons`: of a request with an `Idempotency-Key`, in
     * its first event, why each of its payloads was ignored, null where it counts; left out where all of them do.
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
        { isRaw: { type: 'boolean' }, reasons: { type: 'array', items: oneOf(id, none) } },
      ),
      { sealed: { subject: siteSubject, erased: { hits: [], visitors: [] }, large: true } },
    ),
    /** A key was made by which the visitors of a day are told apart. */
    VisitorDayOpened: event(object({ day, openedAt: time })),
    /** The day is over, and with its key whoever came can not be told from anybody any more. */
    VisitorDayEnded: event(object({ day, endedAt: time }), { erases: visitorSubject }),
    /** What was counted of days before this one is no longer kept. `since`: it was so already before that one; `rows`: that went. */
    DaysExpired: event(object({ before: day, since: { type: 'string' }, rows: count, expiredAt: time })),
    /** Records that were kept for those who look for a fault are kept no longer, of before this instant; `rows`: that went. */
    RawExpired: event(object({ before: time, rows: count, expiredAt: time })),
    ...loginEvents,
  },
} as const satisfies Catalog;

type Analytics = typeof catalog;

/** The events of the analytics service: all of them, or those that are named. */
export type AnalyticsEvent<Type extends keyof Analytics['events'] = keyof Analytics['events']> = EventOf<
  Analytics,
  Type
>;
