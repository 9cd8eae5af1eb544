/** What the analytics routes take and answer, for checks and the document. */
import { payload } from '../../../domain/analytics/hit-payload.js';
import { REASONS } from '../../../domain/analytics/hit-rules.js';
import { SITE_LIMITS } from '../../../domain/analytics/site-fields.js';
import { object, type Schema } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const instant = { type: 'string', format: 'date-time' } as const;
const list = <const Item extends Schema>(items: Item) => ({ type: 'array', items }) as const;
const orNull = { type: ['string', 'null'] } as const;

/** Payloads that one request may hold. */
export const MAX_PAYLOADS = 100;

/** One payload, or a list of them, each of which is checked by itself. */
export const collectBody = {
  type: ['object', 'array'],
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    title: 'The list of payloads',
    items: { anyOf: [payload, { description: 'What is no payload is not taken, as its result says' }] },
    maxItems: MAX_PAYLOADS,
  },
  else: payload,
} as const;

const verdict = object(
  { accepted: flag },
  {
    reason: { enum: REASONS },
    error: { type: 'string', description: 'What is wrong with an `invalid_payload`' },
  },
);

export const collectAnswer = {
  anyOf: [verdict, object({ results: list(verdict) })],
} as const;

const siteFields = {
  name: { type: 'string', description: `Up to ${SITE_LIMITS.name} characters; without one the id` },
  domains: {
    anyOf: [list(text), text],
    description: 'Hosts that may send; a list, or one text split at commas and lines. Subdomains may, too',
  },
  allowedEventProperties: { ...list(text), description: 'Properties of events that are counted' },
  ingestToken: {
    type: 'string',
    description: `Who sends must bring it as \`x-analytics-token\`; empty for none. Never answered`,
  },
} as const;

export const createSiteBody = object(
  {},
  {
    id: { type: 'string', description: 'Small letters, digits, `_` and `-`; without one made of the name' },
    ...siteFields,
  },
);

export const updateSiteBody = object({}, { id: text, ...siteFields });

const site = object({
  id: text,
  name: text,
  domains: list(text),
  allowedEventProperties: list(text),
  hasIngestToken: flag,
  snippet: { type: 'string', description: 'The tag that puts the tracker on a page' },
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
    storeRaw: { type: 'boolean', description: 'Whether hits are kept to be looked at one by one' },
    rawRetentionHours: { type: 'integer', description: 'For so long, where they are' },
  }),
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
