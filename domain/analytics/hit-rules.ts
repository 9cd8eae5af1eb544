/** Whether a visit is counted, and why not: the order in which reasons are given is promised to callers. */
import { matchesDomain } from './host.js';
import type { Site } from './sites.js';

export const REASONS = [
  'unknown_site',
  'privacy_signal',
  'host_not_allowed',
  'ingest_token_required',
  'bot',
  /** Of one network, within a short time. */
  'too_many_hits',
  /** Of a batch: the item is no payload. */
  'invalid_payload',
] as const;
export type Reason = (typeof REASONS)[number];

/** What is known of a request that may be ignored; what costs something to find out is asked when it matters. */
export interface HitOrigin {
  /** `DNT` or `Sec-GPC`, where these are honoured. */
  readonly privacySignal: boolean;
  /** Of the page. */
  readonly host: string | undefined;
  /** What a browser says it is; a caller that is none says nothing. */
  readonly origin: { readonly host: string | undefined } | undefined;
  /** Whether the ingest token that came is the site's. */
  readonly hasToken: () => boolean;
  /** Known to be a bot, where these are filtered. */
  readonly isBot: () => boolean;
}

/** Why a visit is ignored; undefined where it counts. */
export function rejectionReason(site: Site | undefined, asking: HitOrigin): Reason | undefined {
  if (!site) return 'unknown_site';
  if (asking.privacySignal) return 'privacy_signal';
  if (!isHostAllowed(site, asking)) return 'host_not_allowed';
  if (site.tokenHash !== null && !asking.hasToken()) return 'ingest_token_required';
  return asking.isBot() ? 'bot' : undefined;
}

/** A site without domains has no pages: only servers that bring its token send for it, of any host. */
function isHostAllowed({ domains, tokenHash }: Site, { host, origin }: HitOrigin): boolean {
  if (domains.length === 0) return tokenHash !== null;
  const isAllowed = (name: string | undefined) => name !== undefined && matchesDomain(domains, name);
  return isAllowed(host) && (origin === undefined || isAllowed(origin.host));
}
