/** Keeps the pages of other sites from talking to a service of this machine that asks nobody who they are. */
import { isLoopback } from '../../platform/config/client-address.js';
import type { Guard } from '../server/policy.js';
import { problem } from '../server/problem.js';
import { unasked } from './csrf-guard.js';

export interface Expected {
  /** What the service listens on, as configured. */
  readonly host: string;
  /** Under which people reach it, if that is somewhere else. */
  readonly appUrl?: string | undefined;
  /** Whose pages may call besides those of this machine; `*` stands for all. */
  readonly origins?: readonly string[] | undefined;
}

const FOREIGN_HOST = problem(403, 'This service is not known under that host name');
const FOREIGN_ORIGIN = problem(403, 'Pages of that origin may not call this service');

/**
 * Refuses with 403 a `Host` that is neither of this machine, nor the address listened on, nor that of `appUrl` (a
 * name on the web can be made to point here), an `Origin` that is neither of this machine nor listed, and what a page
 * of another site embeds.
 */
export function meantFor({ host, appUrl, origins = [] }: Expected): Guard {
  const isNamed = isOneOf(appUrl === undefined ? [host] : [host, new URL(appUrl).hostname]);
  const anyOrigin = origins.includes('*');
  return (request) => {
    const { headers, localAddress } = request;
    const { host: asked, origin } = headers;
    const name = hostNameOf(asked);
    if (!isLocalName(name) && !isNamed(name) && name !== localAddress) return FOREIGN_HOST;
    if (anyOrigin) return undefined;
    if (origin === undefined) return unasked(request);
    if (origins.includes(origin)) return undefined;
    return isLocalName(hostNameOf(/^https?:\/\/(.*)$/i.exec(origin)?.[1])) ? undefined : FOREIGN_ORIGIN;
  };
}

/** Whether a `Host` can only mean this machine, or is the configured one. */
export function namesThisMachine(host: string | undefined, configured: string): boolean {
  const name = hostNameOf(host);
  return isLocalName(name) || isOneOf([configured])(name);
}

const isLocalName = (name: string) => name === 'localhost' || isLoopback(name);

const isOneOf = (names: readonly string[]) => {
  const known = names.map((name) => name.toLowerCase().replace(/^\[(.*)\]$/, '$1'));
  return (name: string) => known.includes(name);
};

/** The name in `name:port`, without the brackets of IPv6; empty for what is none. */
const hostNameOf = (host: string | undefined): string => {
  const [, bracketed, bare] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d*)?$/i.exec(host ?? '') ?? [];
  return (bracketed ?? bare ?? '').toLowerCase();
};
