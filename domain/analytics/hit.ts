/** Parses collect payloads into hits: truncates texts and drops queries, fragments and personal data. */
import { clean, type DataOf, isVisible, object, text } from '../shared/index.js';
import type { AnalyticsEvent, Hit } from './catalog.js';
import { matchesDomain, parseHost, parseReferrer, parseUrlHost } from './site-fields.js';
import type { Site } from './sites.js';

/** Maximum lengths in characters (`properties`: number of properties); longer values are truncated. */
export const MAX_LENGTHS = {
  path: 300,
  referrer: 180,
  campaign: 120,
  event: 80,
  properties: 20,
  propertyValue: 120,
} as const;

/** Body of a collect request, or an item of a batch. */
export const payload = object(
  { site: { type: 'string', description: 'Id of the site' } },
  {
    kind: { enum: ['pageview', 'event'] },
    event: text,
    host: text,
    path: text,
    referrer: text,
    campaign: object({}, { utm_source: text, utm_medium: text, utm_campaign: text }),
    properties: { type: 'object' },
  },
);
export type Payload = DataOf<typeof payload>;

/** A parsed payload. */
export interface Visit {
  readonly kind: 'pageview' | 'event';
  readonly host: string | undefined;
  readonly hit: Hit;
}

/** Headers that identify the page a request came from. */
export interface RequestSource {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
}

/** Site settings that affect parsing. */
export type PayloadRules = Pick<Site, 'domains' | 'allowedEventProperties'>;

/** Parses a payload; undefined for an event without a name. */
export function parseVisit(
  payload: Payload,
  { origin, referer }: RequestSource,
  { domains, allowedEventProperties }: PayloadRules,
): Visit | undefined {
  const eventName = clean(payload.event ?? '', MAX_LENGTHS.event);
  const name = isVisible(eventName) ? eventName : '';
  const kind = payload.kind ?? (name === '' ? 'pageview' : 'event');
  if (kind === 'event' && name === '') return undefined;
  const host =
    parseHost(payload.host ?? '') ?? parseUrlHost(payload.path) ?? parseUrlHost(origin) ?? parseUrlHost(referer);
  const referrer = parseReferrer(payload.referrer ?? '', host, domains)?.slice(0, MAX_LENGTHS.referrer);
  // A referrer with a host is dropped only if it is one of the site's own.
  const isInternal = referrer === undefined && parseUrlHost(payload.referrer?.trim()) !== undefined;
  const campaign = campaignOf(payload.campaign);
  const properties = kind === 'event' ? propertiesOf(payload.properties, allowedEventProperties) : [];
  return {
    kind,
    host,
    hit: {
      path: parsePath(payload.path ?? ''),
      ...(kind === 'event' && { event: name }),
      ...(referrer !== undefined && { referrer }),
      ...(isInternal && kind === 'pageview' && { isInternal }),
      ...(campaign && { campaign }),
      ...(properties.length > 0 && { properties }),
    },
  };
}

/** Fast path: paths that parsing would not change. */
const PLAIN_PATH = /^\/(?:[!"$-.0->@-~]+\/)*[!"$-.0->@-~]*$/;

/** Normalizes a path or URL: leading slash, no query, no fragment, no repeated slashes. */
export function parsePath(text: string): string {
  if (text.length <= MAX_LENGTHS.path && PLAIN_PATH.test(text)) return text;
  const path = text
    .slice(0, 8 * MAX_LENGTHS.path)
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/su, '');
  return clean(`/${path}`.replace(/\/+/g, '/'), MAX_LENGTHS.path);
}

function campaignOf(input: Payload['campaign']): Hit['campaign'] {
  const shorten = (value: string | undefined) => clean(value ?? '', MAX_LENGTHS.campaign);
  const [source, medium, campaign] = [input?.utm_source, input?.utm_medium, input?.utm_campaign].map(shorten);
  return source || medium || campaign
    ? { source: source ?? '', medium: medium ?? '', campaign: campaign ?? '' }
    : undefined;
}

type Property = NonNullable<Hit['properties']>[number];

/** Extracts the allowed properties, in the site's order. Keeps only texts, numbers and booleans. */
function propertiesOf(input: Payload['properties'] = {}, allowed: readonly string[]): readonly Property[] {
  const found: Property[] = [];
  for (const name of allowed) {
    if (found.length === MAX_LENGTHS.properties) break;
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (typeof value === 'string') found.push({ name, value: clean(value, MAX_LENGTHS.propertyValue) });
    else if (typeof value === 'boolean' || Number.isFinite(value))
      found.push({ name, value: value as number | boolean });
  }
  return found;
}

/** Codes that proxies and databases use for unknown countries. */
const UNKNOWN_CODES = new Set(['XX', 'ZZ']);

/** Returns two upper-case letters; undefined for other texts, such as `XX` and `T1` (Tor) of Cloudflare. */
export function parseCountry(text: string | undefined): string | undefined {
  const code = text?.trim().toUpperCase();
  return code !== undefined && /^[A-Z]{2}$/.test(code) && !UNKNOWN_CODES.has(code) ? code : undefined;
}

export const REASONS = [
  'unknown_site',
  'privacy_signal',
  'host_not_allowed',
  'ingest_token_required',
  'bot',
  /** Rate limit of the sender's network. */
  'too_many_hits',
  /** Item of a batch that is not a valid payload. */
  'invalid_payload',
] as const;
export type Reason = (typeof REASONS)[number];

/** Facts about a request; costly ones are evaluated lazily. */
export interface HitOrigin {
  /** `DNT` or `Sec-GPC` was sent and is honoured. */
  readonly privacySignal: boolean;
  /** Host of the page. */
  readonly host: string | undefined;
  /** The `Origin` header; undefined if the caller is not a browser. */
  readonly origin: { readonly host: string | undefined } | undefined;
  /** Whether the request has the site's ingest token. */
  readonly hasToken: () => boolean;
  /** Whether the user agent is a bot and bots are filtered. */
  readonly isBot: () => boolean;
}

/** Returns why a hit is ignored; undefined if it is accepted. */
export function rejectionReason(site: Site | undefined, request: HitOrigin): Reason | undefined {
  if (!site) return 'unknown_site';
  if (request.privacySignal) return 'privacy_signal';
  if (!isHostAllowed(site, request)) return 'host_not_allowed';
  if (site.tokenHash !== null && !request.hasToken()) return 'ingest_token_required';
  return request.isBot() ? 'bot' : undefined;
}

/** A site without domains accepts any host, but only from servers with its ingest token. */
function isHostAllowed({ domains, tokenHash }: Site, { host, origin }: HitOrigin): boolean {
  if (domains.length === 0) return tokenHash !== null;
  const isAllowed = (name: string | undefined) => name !== undefined && matchesDomain(domains, name);
  return isAllowed(host) && (origin === undefined || isAllowed(origin.host));
}

export type HitsCollected = AnalyticsEvent<'HitsCollected'>;

/** One instance of a site; an id can be reused after deletion. */
export interface SiteInstance {
  readonly siteId: string;
  readonly instance: string;
}

const DAY_MS = 86_400_000;
/** Caches the last formatted day, as most hits belong to the same day. */
let lastDay = { day: Number.NaN, name: '' };

/** Formats the UTC day of an instant as `2026-11-22`. */
export function dayOf(instant: number): string {
  const day = Math.floor(instant / DAY_MS);
  if (day !== lastDay.day) lastDay = { day, name: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.name;
}

export const trafficStream = (instance: string, day: string): string => `analytics.traffic-${instance}-${day}`;

/**
 * Selects the stream day for hits of `day`: the day itself, or `before`, the first not expired day, if a clock running
 * ahead has expired `day` too early and its stream is tombstoned.
 */
export const writableDay = (day: string, before: string): string => (day < before ? before : day);

/** Stream of a request with an `Idempotency-Key`. */
export const requestStream = (commandId: string): string => `analytics.request-${commandId}`;

/** Creates the event. Visitors are sorted, so that their order reveals nothing about the hits. */
export function hitsCollected(
  { siteId, instance }: SiteInstance,
  collectedAt: number,
  hits: readonly Hit[],
  visitors: readonly string[],
  isRaw = false,
): HitsCollected {
  const events = hits.filter(({ event }) => event !== undefined).length;
  return {
    type: 'HitsCollected',
    data: {
      siteId,
      instance,
      day: dayOf(collectedAt),
      collectedAt,
      views: hits.length - events,
      events,
      ...(isRaw && { isRaw }),
      secret: { hits, visitors: [...visitors].sort() },
    },
  };
}
const { site, ...rest } = payload.properties;

/** A collect payload plus the fields that the service normally takes from the request. */
export const importedHit = object(
  /** ISO 8601 or Unix time. */
  { site, timestamp: { type: ['string', 'number'] } },
  {
    ...rest,
    userAgent: text,
    /** Identifies a visitor together with `userAgent`; hashed and never stored. */
    address: text,
    /** Identifies a visitor instead of `address` and `userAgent`. */
    visitor: text,
    /** Two letters. */
    country: { type: 'string', pattern: '^[A-Za-z]{2}$' },
  },
);
export type ImportedHit = DataOf<typeof importedHit>;
