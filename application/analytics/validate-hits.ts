/** Says of hits whether they count, and of those that do not, why. */
import { type Payload, type PayloadRules, type Visit, parseVisit } from '../../domain/analytics/hit-payload.js';
import { type Reason, rejectionReason } from '../../domain/analytics/hit-rules.js';
import { parseUrlHost } from '../../domain/analytics/host.js';
import { siteIdOf } from '../../domain/analytics/site-fields.js';
import type { Site } from '../../domain/analytics/sites.js';
import { clean } from '../../domain/analytics/text.js';
import type { CommandContext, Position, UserAgentParser } from '../ports/index.js';
import type { Attempt } from './recent-attempts.js';
import type { SiteDirectory } from './site-directory.js';

export interface HitValidatorPorts {
  readonly directory: Pick<SiteDirectory, 'find'>;
  readonly isTokenOf: (site: Site, token: string | undefined) => boolean;
  readonly agents: Pick<UserAgentParser, 'isBot'>;
  readonly filterBots: boolean;
}

/** What a request says besides its payloads. Address and user agent are digested, and then forgotten. */
export interface Sender {
  /** Several payloads came as a list: each is answered by itself. */
  readonly isBatch: boolean;
  readonly address: string;
  readonly userAgent: string;
  /** `DNT` or `Sec-GPC`, where these are honoured. */
  readonly privacySignal: boolean;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  readonly token: string | undefined;
  /** Two capital letters. */
  readonly country: string | undefined;
  /** An `Idempotency-Key` came with it. */
  readonly hasIdempotencyKey: boolean;
  readonly context: (caller: string) => CommandContext;
  readonly seen: Position | undefined;
}

/** An item of a request: a payload, or what is wrong with it, naming the field. */
export type Item = { readonly payload: Payload } | { readonly error: string };

/** A hit, and why it is ignored; undefined where it counts. */
export interface HitVerdict {
  readonly siteId: string;
  readonly visit: Visit;
  readonly site: Site | undefined;
  reason: Reason | undefined;
}

/** An item that is no hit: nothing is known of it, and it never counts. */
export interface InvalidItem {
  readonly error: string;
  readonly visit?: undefined;
  readonly site?: undefined;
  reason: Reason | undefined;
}

/** Of a site that there is not. */
const NO_RULES: PayloadRules = { domains: [], allowedEventProperties: [] };

/** Judges the items of a request, in their order. */
export const createHitValidator =
  ({ directory, isTokenOf, agents, filterBots }: HitValidatorPorts) =>
  async (
    items: readonly Item[],
    { origin, referer, privacySignal, token, seen, isBatch }: Sender,
    userAgent: string,
  ): Promise<readonly (HitVerdict | InvalidItem)[]> => {
    const ids = items.map((item) => ('payload' in item ? siteIdOf(item.payload.site) : undefined));
    const find = await directory.find(
      ids.filter((id) => id !== undefined),
      seen,
    );
    const from = origin === undefined ? undefined : { host: parseUrlHost(origin) };
    return items.map((item, index): HitVerdict | InvalidItem => {
      if ('error' in item) return { error: item.error, reason: 'invalid_payload' };
      const site = find(ids[index] ?? '');
      const visit = parseVisit(item.payload, { origin, referer }, site ?? NO_RULES);
      if (!visit) return { error: `${isBatch ? `[${index}].` : ''}event must be a name`, reason: 'invalid_payload' };
      const reason = rejectionReason(site, {
        privacySignal,
        host: visit.host,
        origin: from,
        hasToken: () => site !== undefined && isTokenOf(site, token),
        isBot: () => filterBots && agents.isBot(userAgent),
      });
      return { siteId: ids[index] ?? clean(item.payload.site, 80), visit, site, reason };
    });
  };

export const isAccepted = ({ reason }: { readonly reason: Reason | undefined }) => reason === undefined;

/** Of who does not want to be seen nothing is told of where they were. */
export function attemptOf(
  { siteId, visit, reason }: HitVerdict,
  { privacySignal }: Sender,
  timestamp: string,
): Attempt {
  const { kind, host, hit } = visit;
  const place = { host: host ?? null, path: hit.path, eventName: hit.event ?? null };
  const nowhere = { host: null, path: null, eventName: null };
  return {
    accepted: reason === undefined,
    reason: reason ?? null,
    siteId,
    ...(privacySignal ? nowhere : place),
    kind,
    timestamp,
  };
}
