/** Stops pages of other sites from using a service through a visitor's browser: CSRF, DNS rebinding, embedding. */
import { isLoopback } from '../server/client-network.js';
import { type Guard, type GuardedRequest, problem } from '../server/policy.js';

const EMBEDDED = problem(403, 'Pages of other sites may only link here');
const NO_PREFLIGHT = problem(403, 'Pages of other origins must send application/json');
const FOREIGN_HOST = problem(403, 'This service is not known under that host name');
const FORWARDED = problem(403, 'A proxy forwards this request of another machine: it must pass on the Host header');
const FOREIGN_ORIGIN = problem(403, 'Pages of that origin may not call this service');

export interface CsrfGuardOptions {
  /** Public address of the service, if it differs from the listening address. */
  readonly appUrl?: string | undefined;
  readonly origins?: readonly string[] | undefined;
}

export interface HostGuardOptions extends CsrfGuardOptions {
  readonly host: string;
}

/** Content types sent without a preflight. For all others CORS rejects credentials. */
const SIMPLE = /^(?:text\/plain|application\/x-www-form-urlencoded|multipart\/form-data)\b|^$/i;

/** Rejects resources that a page of another site embeds (images, frames, scripts), as timing reveals data. Links are allowed. */
const rejectEmbedding: Guard = ({ headers }) => {
  const { origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  // Requests with an Origin are checked by it.
  if (origin !== undefined || site !== 'cross-site') return undefined;
  return mode === 'navigate' && destination === 'document' ? undefined : EMBEDDED;
};

/**
 * For Basic authentication, which browsers add to requests of any page: rejects embedded resources, and commands of
 * other origins sent without a preflight. `*` in `origins` only permits reading.
 */
export function createCsrfGuard({ appUrl, origins = [] }: CsrfGuardOptions): Guard {
  return (request) => {
    const { method, headers } = request;
    const { authorization = '', origin, 'content-type': type = '', 'sec-fetch-site': site } = headers;
    if (!/^basic /i.test(authorization)) return undefined;
    if (origin === undefined) return rejectEmbedding(request);
    if (method !== 'POST' || !SIMPLE.test(type)) return undefined;
    const isTrusted = site === 'same-origin' || isSameOrigin(headers, appUrl) || origins.includes(origin);
    return isTrusted ? undefined : NO_PREFLIGHT;
  };
}

/**
 * For services without sign-in: rejects a `Host` other than this machine, the listening address and `appUrl`, as any DNS
 * name can point here; requests of other machines that a proxy passes on as of this one; an `Origin` neither of this
 * machine nor listed (`*` allows all); and embedded resources.
 */
export function createHostGuard({ host, appUrl, origins = [] }: HostGuardOptions): Guard {
  const isConfigured = isOneOf(appUrl === undefined ? [host] : [host, new URL(appUrl).hostname]);
  const anyOrigin = origins.includes('*');
  return (request) => {
    const { headers, localAddress } = request;
    const { host: requestedHost, origin } = headers;
    const name = hostNameOf(requestedHost);
    if (!isLocalName(name) && !isConfigured(name) && name !== localAddress) return FOREIGN_HOST;
    if (isLocalName(name) && isForwarded(headers)) return FORWARDED;
    if (anyOrigin) return undefined;
    if (origin === undefined) return rejectEmbedding(request);
    if (origins.includes(origin)) return undefined;
    return isLocalName(hostNameOf(hostOfOrigin(origin))) ? undefined : FOREIGN_ORIGIN;
  };
}

/** Whether a request was sent by a page of the service itself, or of its public address `appUrl`. */
export function isSameOrigin(headers: GuardedRequest['headers'], appUrl: string | undefined): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (origin === undefined) return site === 'same-origin';
  if (appUrl !== undefined && origin === new URL(appUrl).origin) return true;
  return host !== undefined && hostOfOrigin(origin) === host;
}

/** Headers in which proxies name the client or the requested host. */
const FORWARDING = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'cf-connecting-ip'] as const;

/** Whether a proxy has passed a request on. One that adds no header cannot be recognised. */
export const isProxied = (headers: GuardedRequest['headers']): boolean =>
  FORWARDING.some((name) => headers[name] !== undefined);

/** Whether a proxy has passed on a request of another machine. */
const isForwarded = (headers: GuardedRequest['headers']) =>
  FORWARDING.some((name) =>
    headers[name]?.split(',').some((each) => !isLocalName(hostNameOf(each.trim())) && !isLoopback(each.trim())),
  );

/** Whether a `Host` can only mean this machine, or is the configured one. */
export function isLocalHost(host: string | undefined, configured: string): boolean {
  const name = hostNameOf(host);
  return isLocalName(name) || isOneOf([configured])(name);
}

const hostOfOrigin = (origin: string) => /^https?:\/\/(.*)$/i.exec(origin)?.[1];

const isLocalName = (name: string) => name === 'localhost' || isLoopback(name);

const isOneOf = (names: readonly string[]) => {
  const known = names.map((name) => name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
  return (name: string) => known.includes(name);
};

/** The name in `name:port`, without the brackets of IPv6; empty if invalid. */
const hostNameOf = (host: string | undefined): string => {
  const [, bracketed, bare] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/i.exec(host ?? '') ?? [];
  return (bracketed ?? bare ?? '').toLowerCase();
};
