/** What a tracker or a server sends of a visit, and what is kept of it: short, without queries, fragments and persons. */
import { type DataOf, isVisible, object } from '../shared/index.js';
import type { Hit } from './catalog.js';
import { parseHost, parseUrlHost, parseReferrer } from './host.js';
import type { Site } from './sites.js';
import { clean } from './text.js';

/** In characters, or of properties in number: what is longer is cut. */
export const MAX_LENGTHS = {
  path: 300,
  referrer: 180,
  campaign: 120,
  event: 80,
  properties: 20,
  propertyValue: 120,
} as const;

const text = { type: 'string' } as const;

/** The body of a collect request, or one of a batch. */
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

/** A payload as it is understood. */
export interface Visit {
  readonly kind: 'pageview' | 'event';
  readonly host: string | undefined;
  readonly hit: Hit;
}

/** Where a request came from, by its headers. */
export interface RequestSource {
  readonly origin?: string | undefined;
  readonly referer?: string | undefined;
}

/** What of a site decides how a payload is read. */
export type PayloadRules = Pick<Site, 'domains' | 'allowedEventProperties'>;

/** Undefined for an event without a name. */
export function parseVisit(
  payload: Payload,
  { origin, referer }: RequestSource,
  { domains, allowedEventProperties }: PayloadRules,
): Visit | undefined {
  const given = clean(payload.event ?? '', MAX_LENGTHS.event);
  const name = isVisible(given) ? given : '';
  const kind = payload.kind ?? (name === '' ? 'pageview' : 'event');
  if (kind === 'event' && name === '') return undefined;
  const host = parseHost(payload.host ?? '') ?? parseUrlHost(payload.path) ?? parseUrlHost(origin) ?? parseUrlHost(referer);
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

/** Of which nothing else would be made. */
const PLAIN_PATH = /^\/(?:[!"$-.0->@-~]+\/)*[!"$-.0->@-~]*$/;

/** Also of a whole URL; a leading slash, no query, no fragment, no slash after another. */
export function parsePath(text: string): string {
  if (text.length <= MAX_LENGTHS.path && PLAIN_PATH.test(text)) return text;
  const place = text
    .slice(0, 8 * MAX_LENGTHS.path)
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
    .replace(/[?#].*$/su, '');
  return clean(`/${place}`.replace(/\/+/g, '/'), MAX_LENGTHS.path);
}

function campaignOf(given: Payload['campaign']): Hit['campaign'] {
  const cut = (value: string | undefined) => clean(value ?? '', MAX_LENGTHS.campaign);
  const [source, medium, campaign] = [given?.utm_source, given?.utm_medium, given?.utm_campaign].map(cut);
  return source || medium || campaign
    ? { source: source ?? '', medium: medium ?? '', campaign: campaign ?? '' }
    : undefined;
}

type Property = NonNullable<Hit['properties']>[number];

/** In the order that the site names them; what is no text, number or boolean is none. */
function propertiesOf(given: Payload['properties'] = {}, allowed: readonly string[]): readonly Property[] {
  const found: Property[] = [];
  for (const name of allowed) {
    if (found.length === MAX_LENGTHS.properties) break;
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (typeof value === 'string') found.push({ name, value: clean(value, MAX_LENGTHS.propertyValue) });
    else if (typeof value === 'boolean' || Number.isFinite(value))
      found.push({ name, value: value as number | boolean });
  }
  return found;
}
