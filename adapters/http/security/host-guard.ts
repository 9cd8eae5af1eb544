/** Prevents pages of other sites from using a local service without sign-in (DNS rebinding, CSRF). */
import { isLoopback } from '../../platform/config/client-address.js';
import type { Guard } from '../server/policy.js';
import { problem } from '../server/problem.js';
import { rejectEmbedding } from './csrf-guard.js';

export interface HostGuardOptions {
  /** Listening address, as configured. */
  readonly host: string;
  /** Public address of the service, if it differs from the listening address. */
  readonly appUrl?: string | undefined;
  /** Origins allowed besides those of this machine; `*` allows all. */
  readonly origins?: readonly string[] | undefined;
}

const FOREIGN_HOST = problem(403, 'This service is not known under that host name');
const FOREIGN_ORIGIN = problem(403, 'Pages of that origin may not call this service');

/**
 * Rejects with 403: a `Host` that is neither a name of this machine, nor the listening address, nor the host of `appUrl`
 * (any DNS name can point here); an `Origin` that is neither of this machine nor listed; and resources that a page of
 * another site embeds.
 */
export function createHostGuard({ host, appUrl, origins = [] }: HostGuardOptions): Guard {
  const isConfigured = isOneOf(appUrl === undefined ? [host] : [host, new URL(appUrl).hostname]);
  const anyOrigin = origins.includes('*');
  return (request) => {
    const { headers, localAddress } = request;
    const { host: requestedHost, origin } = headers;
    const name = hostNameOf(requestedHost);
    if (!isLocalName(name) && !isConfigured(name) && name !== localAddress) return FOREIGN_HOST;
    if (anyOrigin) return undefined;
    if (origin === undefined) return rejectEmbedding(request);
    if (origins.includes(origin)) return undefined;
    return isLocalName(hostNameOf(/^https?:\/\/(.*)$/i.exec(origin)?.[1])) ? undefined : FOREIGN_ORIGIN;
  };
}

/** Whether a `Host` can only mean this machine, or is the configured one. */
export function isLocalHost(host: string | undefined, configured: string): boolean {
  const name = hostNameOf(host);
  return isLocalName(name) || isOneOf([configured])(name);
}

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
