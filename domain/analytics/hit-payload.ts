/** Parses collect payloads into hits: truncates texts and drops queries, fragments and personal data. */
import { type DataOf, isVisible, object } from '../shared/index.js';
import type { Hit } from './catalog.js';
import { parseHost, parseReferrer, parseUrlHost } from './host.js';
import type { Site } from './sites.js';
import { clean } from './text.js';

/** Maximum lengths in characters (`properties`: number of properties); longer values are truncated. */
export const MAX_LENGTHS = {
  path: 300,
  referrer: 180,
  campaign: 120,
  event: 80,
  properties: 20,
  propertyValue: 120,
} as const;

const text = { type: 'string' } as const;

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
  const campaign = campaignOf(payload.campaign);
  const properties = kind === 'event' ? propertiesOf(payload.properties, allowedEventProperties) : [];
  return {
    kind,
    host,
    hit: {
      path: parsePath(payload.path ?? ''),
      ...(kind === 'event' && { event: name }),
      ...(referrer !== undefined && { referrer }),
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
