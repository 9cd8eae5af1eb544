/** Parses host names from URLs and user input, and matches them with a site's domains. */
import { readUrl, truncate } from '../shared/index.js';

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
