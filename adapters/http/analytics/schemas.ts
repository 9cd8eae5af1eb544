/** JSON Schemas of analytics requests and responses. */
import { NOT_KEPT } from '../../../domain/analytics/filtered-report.js';
import { payload, REASONS } from '../../../domain/analytics/hit.js';
import { SITE_LIMITS } from '../../../domain/analytics/site-fields.js';
import { object, type Schema } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const instant = { type: 'string', format: 'date-time' } as const;
const list = <const Item extends Schema>(items: Item) => ({ type: 'array', items }) as const;
const orNull = { type: ['string', 'null'] } as const;

export const MAX_PAYLOADS = 100;

/** One payload, or a list of payloads that are validated one by one. */
export const collectBody = {
  type: ['object', 'array'],
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    title: 'The list of payloads',
    items: { anyOf: [payload, { description: 'Invalid items are ignored; see their results' }] },
    maxItems: MAX_PAYLOADS,
  },
  else: payload,
} as const;

const verdict = object(
  { accepted: flag },
  {
    reason: { enum: REASONS },
    error: { type: 'string', description: 'Details of `invalid_payload`' },
  },
);

export const collectAnswer = { anyOf: [verdict, object({ results: list(verdict) })] } as const;

const siteFields = {
  name: { type: 'string', description: `Up to ${SITE_LIMITS.name} characters; defaults to the id` },
  domains: {
    anyOf: [list(text), text],
    description: 'Hosts that may send hits, including subdomains: a list, or a text split at commas and line breaks',
  },
  allowedEventProperties: { ...list(text), description: 'Event properties to count' },
  goals: { ...list(text), description: 'Names of events whose rate the report shows' },
  ingestToken: {
    type: 'string',
    description: 'If set, hits must carry it as `x-analytics-token`. Empty removes it. Never returned',
  },
} as const;

export const createSiteBody = object(
  {},
  {
    id: { type: 'string', description: 'Lower-case letters, digits, `_` and `-`; derived from the name by default' },
    ...siteFields,
  },
);

export const updateSiteBody = object({}, { id: text, ...siteFields });

const site = object({
  id: text,
  name: text,
  domains: list(text),
  allowedEventProperties: list(text),
  goals: list(text),
  hasIngestToken: flag,
  snippet: { type: 'string', description: 'HTML tag that loads the tracker' },
  shareUrl: { ...orNull, description: 'Public link to its reports; its fragment is the token of `/api/shared/report`' },
  createdAt: instant,
  updatedAt: instant,
});

export const siteAnswer = object({ site });

export const sitesAnswer = object({
  sites: list(site),
  privacy: object({
    honorDoNotTrack: flag,
    filterBots: flag,
    countries: { type: 'boolean', description: 'Whether countries of visitors are counted' },
    retentionDays: { type: 'integer' },
    storeRaw: { type: 'boolean', description: 'Whether single hits are stored for debugging' },
    rawRetentionHours: { type: 'integer', description: 'Hours that single hits are stored' },
  }),
});

export const weeklyMailAnswer = object({
  subscribed: flag,
  email: { ...orNull, description: 'Where mails go to; null for callers without an address' },
});

export const deletedAnswer = object({
  id: text,
  success: { type: 'boolean' },
  rowsDeleted: { type: 'integer' },
});

export const attemptsAnswer = object({
  attempts: list(
    object({
      accepted: flag,
      reason: orNull,
      siteId: text,
      host: orNull,
      path: orNull,
      kind: { enum: ['pageview', 'event'] },
      eventName: orNull,
      timestamp: instant,
    }),
  ),
});

export const healthAnswer = object({
  status: { const: 'ok' },
  service: text,
  version: text,
  timestamp: instant,
});

export const configAnswer = object({
  mode: { const: 'api' },
  auth: object({ enabled: flag, mode: text, routes: { type: 'object' } }),
});

export const meAnswer = object({
  authEnabled: flag,
  authenticated: flag,
  user: object({ email: orNull, role: text }),
});

export const magicLinkBody = object({ email: { type: 'string', minLength: 1, pattern: '\\S' } });
export const magicLinkAnswer = object({ message: text });
export const verifyBody = object({ token: { type: 'string', minLength: 1 } }, { email: text });
export const verifyAnswer = object({
  authenticated: flag,
  user: object({ email: text, role: text }),
  expiresIn: { type: 'integer', description: 'Seconds' },
});

const count = { type: 'integer' } as const;
const day = { type: 'string', format: 'date' } as const;
const metrics = {
  pageviews: count,
  events: count,
  uniques: { type: ['integer', 'null'], description: 'Null with `filters`, as visitors are not kept by their hits' },
} as const;
const change = { type: ['integer', 'null'] } as const;
const namedCounts = list(object({ name: text, count }));

const reportFields = {
  site: text,
  generatedAt: { type: 'string', format: 'date-time' },
  range: object({ days: count, start: day, end: day }),
  totals: object(metrics),
  comparison: object({
    previous: object({
      ...metrics,
      complete: {
        type: 'boolean',
        description:
          'False if some days have no data: before the site was created, or expired. Each `delta` is null then',
      },
    }),
    previousLastDay: {
      ...object(metrics),
      description:
        'Of the last day of the previous period: without it, and without the last of `series`, periods of which the ' +
        'last day is not over can be compared',
    },
    delta: object({ pageviews: change, events: change, uniques: change }),
  }),
  series: list(object({ date: day, ...metrics })),
  pages: namedCounts,
  entryPages: { ...namedCounts, description: 'Pages of views without a referrer of the own domains' },
  events: namedCounts,
  goals: {
    ...list(object({ name: text, count, rate: { type: ['number', 'null'] } })),
    description: "The site's goals: `rate` is their events per 100 visitors; null without visitors, or with `filters`",
  },
  referrers: namedCounts,
  campaigns: list(object({ source: text, medium: text, campaign: text, count })),
  browsers: namedCounts,
  os: namedCounts,
  devices: namedCounts,
  countries: namedCounts,
  properties: list(object({ event: text, property: text, value: { type: ['string', 'number', 'boolean'] }, count })),
  trends: list(
    object({
      category: { enum: ['pages', 'events', 'browsers', 'devices', 'campaigns'] },
      id: text,
      label: text,
      total: count,
      values: list(object({ date: day, count })),
    }),
  ),
} as const;

const optionalReportFields = {
  hours: {
    ...list(object({ pageviews: count, events: count })),
    description: 'The 24 hours of a period of one day, in UTC',
  },
  filters: { type: 'object', description: 'The filters; a campaign is the JSON of its parts' },
  notKept: { ...list({ enum: NOT_KEPT }), description: 'Parts that cannot be filtered' },
  unlisted: { ...count, description: 'Hits of the period in combinations that were too rare to be listed' },
} as const;

export const reportAnswer = object(reportFields, optionalReportFields);
export const sharedReportAnswer = object({ ...reportFields, name: text }, optionalReportFields);

export const cleanupAnswer = object({
  aggregateCutoffDate: { type: 'string', description: 'First retained day' },
  aggregateRowsDeleted: { type: 'integer' },
  rawCutoffTimestamp: { type: 'string', format: 'date-time', description: 'Start of the retained raw records' },
  rawRowsDeleted: { type: 'integer' },
});
