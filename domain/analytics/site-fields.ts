/** What people write of a site, tidied or refused: its id, name, domains and properties. */
import { type Rejection, truncate } from '../shared/index.js';
import { parseHost } from './host.js';
import type { SiteFields } from './sites.js';
import { clean } from './text.js';

export const SITE_LIMITS = {
  id: 80,
  name: 120,
  domains: 100,
  properties: 100,
  propertyName: 80,
  token: 200,
} as const;

/** As it was written. A list of domains may be one text, split at commas and lines. */
export interface SiteFieldsInput {
  readonly name?: string | undefined;
  readonly domains?: readonly string[] | string | undefined;
  readonly allowedEventProperties?: readonly string[] | undefined;
}

const ID = new RegExp(`^[a-z0-9_-]{1,${SITE_LIMITS.id}}$`);

/** Lower case, spaces to `_`; undefined for what can be no id. */
export function siteIdOf(text: string): string | undefined {
  const id = truncate(text, 2 * SITE_LIMITS.id)
    .trim()
    .toLowerCase()
    .replace(/\s/g, '_');
  return ID.test(id) ? id : undefined;
}

/** An id that reads like a name; undefined where nothing of it can stand in one. */
export const suggestSiteId = (name: string): string | undefined =>
  siteIdOf(
    name
      .trim()
      .toLowerCase()
      .replace(/[^a-z0-9_\s-]/g, '')
      .trim()
      .replace(/\s+/g, '_')
      .slice(0, SITE_LIMITS.id),
  );

export const invalidSite = (detail: string): Rejection => ({
  rejected: 'analytics/invalid-site',
  kind: 'invalid',
  detail,
});

/** What is written of these, as it will be kept; what is not written is left out. */
export function parseSiteFields(written: SiteFieldsInput): Partial<Omit<SiteFields, 'tokenHash'>> | Rejection {
  const name = written.name === undefined ? undefined : clean(written.name, SITE_LIMITS.name + 1);
  if (name !== undefined && (name === '' || [...name].length > SITE_LIMITS.name))
    return invalidSite(`name must be of 1 to ${SITE_LIMITS.name} characters`);
  const domains = written.domains === undefined ? undefined : domainsOf(written.domains);
  if (domains && 'rejected' in domains) return domains;
  const properties = written.allowedEventProperties && propertiesOf(written.allowedEventProperties);
  if (properties && 'rejected' in properties) return properties;
  return {
    ...(name !== undefined && { name }),
    ...(domains && { domains }),
    ...(properties && { allowedEventProperties: properties }),
  };
}

function domainsOf(written: readonly string[] | string): readonly string[] | Rejection {
  const given = typeof written === 'string' ? written.split(/[,\r\n]+/) : written;
  const hosts = new Set<string>();
  for (const each of given) {
    if (each.trim() === '') continue;
    const host = parseHost(each);
    if (host === undefined) return invalidSite(`domains must be host names, and ${clean(each, 100)} is none`);
    hosts.add(host);
  }
  return hosts.size > SITE_LIMITS.domains ? invalidSite(`domains must be ${SITE_LIMITS.domains} at most`) : [...hosts];
}

function propertiesOf(written: readonly string[]): readonly string[] | Rejection {
  const names = new Set(written.map((name) => name.trim()).filter((name) => name !== ''));
  if (names.size > SITE_LIMITS.properties)
    return invalidSite(`allowedEventProperties must be ${SITE_LIMITS.properties} at most`);
  const tooLong = [...names].some((name) => clean(name, SITE_LIMITS.propertyName) !== name);
  return tooLong
    ? invalidSite(`allowedEventProperties must be names of at most ${SITE_LIMITS.propertyName} characters`)
    : [...names];
}
