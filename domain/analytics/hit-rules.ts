/** Rules for ignoring hits. Clients rely on the order in which reasons are checked. */
import { matchesDomain } from './host.js';
import type { Site } from './sites.js';

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
