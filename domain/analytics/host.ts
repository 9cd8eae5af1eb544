/** Hosts: read from all that people and browsers write for a place, and compared with the domains of a site. */
import { readUrl, truncate } from '../shared/index.js';

const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
/** A URL is as long at most. */
const MOST = 2048;
/** Of DNS. */
const MOST_HOST = 253;

/** What a URL would make nothing else of: small letters, no port, no number that may be an address, no punycode. */
const PLAIN_HOST = /^(?!.*xn--)(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*$/;
const PLAIN = /^(?!.*xn--)(?:[a-z0-9][a-z0-9-]*\.)*[a-z][a-z0-9-]*(?=$|[/?#])/;

const WWW = 'www.';
/** Who stands on `www.` stands on the domain. */
const bare = (host: string) => (host.startsWith(WWW) ? host.slice(WWW.length) : host);

/** `https://Example.com:8080/x`, `example.com:80` and `*.example.com` are of the host `example.com`; undefined for no host. */
export function parseHost(text: string): string | undefined {
  if (text.length <= MOST_HOST && PLAIN_HOST.test(text)) return text;
  const rest = truncate(text, MOST).trim().replace(SCHEME, '').replace(/^\/\//, '').replace(/^\*\./, '');
  if (rest === '' || rest.startsWith('/')) return undefined;
  const [plain] = PLAIN.exec(rest) ?? [];
  if (plain !== undefined && plain.length <= MOST_HOST) return truncate(rest, plain.length);
  const host = readUrl(`http://${rest}`)?.hostname.replace(/\.$/, '');
  return host !== undefined &&
    /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[\da-f:.]+\])$/.test(host) &&
    host.length <= MOST_HOST
    ? host
    : undefined;
}

/** The host of a URL; undefined where the text is none, like a path, or the `null` of a page without an origin. */
export const parseUrlHost = (text: string | undefined): string | undefined =>
  text !== undefined && SCHEME.test(text) ? parseHost(text) : undefined;

/** Whether a host is one of the domains, or below one of them. */
export const matchesDomain = (domains: readonly string[], host: string): boolean =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`));

/**
 * `https://news.example` of where a visitor came from; undefined where that is no host, the page's own, or one of the
 * domains of the site or below them.
 */
export function parseReferrer(
  text: string,
  ownHost: string | undefined,
  domains: readonly string[] = [],
): string | undefined {
  const scheme = SCHEME.exec(text.trim())?.[1];
  const host = scheme && parseHost(text);
  if (!host || (ownHost !== undefined && bare(host) === bare(ownHost))) return undefined;
  if (matchesDomain(domains.map(bare), host)) return undefined;
  const port = portOf(text);
  return `${scheme.toLowerCase()}://${bare(host)}${port}`;
}

/** In what stands between the scheme and the path. */
const COLON = /^[^:]*:\/\/[^/?#\\]*:/;

/** Of the web's own ports nobody is told. */
function portOf(text: string): string {
  const url = text.slice(0, MOST).trim();
  if (!COLON.test(url)) return '';
  const port = readUrl(url)?.port;
  return port ? `:${port}` : '';
}
