/** Validates and normalizes site input: id, name, domains and properties; matches hosts with a site's domains. */
import { clean, lengthOf, type Rejection, readUrl, rejection, truncate } from '../shared/index.js';
import type { SiteFields } from './sites.js';

export const SITE_LIMITS = {
  id: 80,
  name: 120,
  domains: 100,
  properties: 100,
  propertyName: 80,
  goals: 20,
  token: 200,
} as const;

/** Raw input. Domains may be one text, split at commas and line breaks. */
export interface SiteFieldsInput {
  readonly name?: string | undefined;
  readonly domains?: readonly string[] | string | undefined;
  readonly allowedEventProperties?: readonly string[] | undefined;
  readonly goals?: readonly string[] | undefined;
}

const ID = new RegExp(`^[a-z0-9_-]{1,${SITE_LIMITS.id}}$`);

/** Normalizes to lower case with `_` for spaces; undefined if the result is not a valid id. */
export function parseSiteId(text: string): string | undefined {
  const id = truncate(text, 2 * SITE_LIMITS.id)
    .trim()
    .toLowerCase()
    .replace(/\s/g, '_');
  return ID.test(id) ? id : undefined;
}

/** Derives an id from a name; undefined if the name has no valid characters. */
export const suggestSiteId = (name: string): string | undefined =>
  parseSiteId(
    name
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9_\s-]/g, '')
      .trim()
      .replace(/\s+/g, '_')
      .slice(0, SITE_LIMITS.id),
  );

export const invalidSite = (detail: string): Rejection => rejection('analytics/invalid-site', 'invalid', detail);

/** Normalizes the given fields; absent ones stay absent. */
export function parseSiteFields(input: SiteFieldsInput): Partial<Omit<SiteFields, 'tokenHash'>> | Rejection {
  const name = input.name === undefined ? undefined : clean(input.name, SITE_LIMITS.name + 1);
  if (name !== undefined && (name === '' || lengthOf(name) > SITE_LIMITS.name))
    return invalidSite(`name must have 1 to ${SITE_LIMITS.name} characters`);
  const domains = input.domains === undefined ? undefined : domainsOf(input.domains);
  if (domains && 'rejected' in domains) return domains;
  const properties =
    input.allowedEventProperties &&
    namesOf('allowedEventProperties', input.allowedEventProperties, SITE_LIMITS.properties);
  if (properties && 'rejected' in properties) return properties;
  const goals = input.goals && namesOf('goals', input.goals, SITE_LIMITS.goals);
  if (goals && 'rejected' in goals) return goals;
  return {
    ...(name !== undefined && { name }),
    ...(domains && { domains }),
    ...(properties && { allowedEventProperties: properties }),
    ...(goals && { goals }),
  };
}

function domainsOf(input: readonly string[] | string): readonly string[] | Rejection {
  const entries = typeof input === 'string' ? input.split(/[,\r\n]+/) : input;
  const hosts = new Set<string>();
  for (const each of entries) {
    if (each.trim() === '') continue;
    const host = parseHost(each);
    if (host === undefined) return invalidSite(`"${clean(each, 100)}" is not a valid domain`);
    hosts.add(host);
  }
  return hosts.size > SITE_LIMITS.domains
    ? invalidSite(`domains must have at most ${SITE_LIMITS.domains} entries`)
    : [...hosts];
}

/** Trims names and drops repeated ones. Names of events and of properties have the same maximum length. */
function namesOf(field: string, input: readonly string[], most: number): readonly string[] | Rejection {
  const names = new Set(input.map((name) => name.trim()).filter((name) => name !== ''));
  if (names.size > most) return invalidSite(`${field} must have at most ${most} entries`);
  const tooLong = [...names].some((name) => clean(name, SITE_LIMITS.propertyName) !== name);
  return tooLong
    ? invalidSite(`names in ${field} must have at most ${SITE_LIMITS.propertyName} characters`)
    : [...names];
}

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/** Maximum characters of a URL. */
const MAX_URL = 2048;
/** Maximum characters of a DNS name. */
const MAX_HOST = 253;

/** Fast path: hosts that URL parsing would not change (lower case, no port, no IP address, no punycode). */
const PLAIN_HOST = /^(?!.*xn--)(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*$/;
const PLAIN = /^(?!.*xn--)(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*(?=$|[/?#])/;

const WWW = 'www.';
/** Treats `www.` as the domain itself. */
const stripWww = (host: string) => (host.startsWith(WWW) ? host.slice(WWW.length) : host);

/** Parses `https://Example.com:8080/x`, `example.com:80` and `*.example.com` as `example.com`; undefined if invalid. */
export function parseHost(text: string): string | undefined {
  if (text.length <= MAX_HOST && PLAIN_HOST.test(text)) return text;
  const rest = truncate(text, MAX_URL).trim().replace(SCHEME, '').replace(/^\/\//, '').replace(/^\*\./, '');
  if (rest === '' || rest.startsWith('/')) return undefined;
  const [plain] = PLAIN.exec(rest) ?? [];
  if (plain !== undefined && plain.length <= MAX_HOST) return truncate(rest, plain.length);
  const host = readUrl(`http://${rest}`)?.hostname.replace(/\.$/, '');
  return host !== undefined &&
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[\da-f:.]+\])$/.test(host) &&
    host.length <= MAX_HOST
    ? host
    : undefined;
}

/** Parses the host of a URL; undefined for other texts, such as a path or the `null` of an opaque origin. */
export const parseUrlHost = (text: string | undefined): string | undefined =>
  text !== undefined && SCHEME.test(text) ? parseHost(text) : undefined;

/** Whether a host is one of the domains or a subdomain. */
export const matchesDomain = (domains: readonly string[], host: string): boolean =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`));

/** Parses the origin of a referrer, such as `https://news.example`; undefined if invalid or one of the site's own hosts. */
export function parseReferrer(
  text: string,
  ownHost: string | undefined,
  domains: readonly string[] = [],
): string | undefined {
  const scheme = SCHEME.exec(text.trim())?.[1];
  const host = scheme && parseHost(text);
  if (!host || (ownHost !== undefined && stripWww(host) === stripWww(ownHost))) return undefined;
  if (matchesDomain(domains.map(stripWww), host)) return undefined;
  const port = portOf(text);
  return `${scheme.toLowerCase()}://${stripWww(host)}${port}`;
}

/** Matches a colon between scheme and path. */
const COLON = /^[^:]*:\/\/[^/?#\\]*:/;

/** Returns `:port`; empty for default ports. */
function portOf(text: string): string {
  const url = text.slice(0, MAX_URL).trim();
  if (!COLON.test(url)) return '';
  const port = readUrl(url)?.port;
  return port ? `:${port}` : '';
}
