/** Validates hits and reports why some are ignored: in the answer, and in the recent attempts of a site. */
import { LRUCache } from 'lru-cache';
import {
  type Payload,
  type PayloadRules,
  parseVisit,
  type Reason,
  rejectionReason,
  type Visit,
} from '../../domain/analytics/hit.js';
import { parseSiteId, parseUrlHost } from '../../domain/analytics/site-fields.js';
import type { Site } from '../../domain/analytics/sites.js';
import { clean } from '../../domain/shared/index.js';
import type { Cache, CommandContext, Position, UserAgentParser } from '../ports/index.js';
import type { SiteDirectory } from './sites.js';

export interface HitValidatorPorts {
  readonly directory: Pick<SiteDirectory, 'find'>;
  readonly isTokenOf: (site: Site, token: string | undefined) => boolean;
  readonly agents: Pick<UserAgentParser, 'isBot'>;
  readonly filterBots: boolean;
}

/** Request data beside the payloads. Address and user agent are hashed and never stored. */
export interface Sender {
  /** The body was a list; each payload gets its own result. */
  readonly isBatch: boolean;
  readonly address: string;
  readonly userAgent: string;
  /** `DNT` or `Sec-GPC` was sent and is honoured. */
  readonly privacySignal: boolean;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
  readonly token: string | undefined;
  /** Two upper-case letters. */
  readonly country: string | undefined;
  readonly hasIdempotencyKey: boolean;
  readonly context: (caller: string) => CommandContext;
  readonly seen: Position | undefined;
}

/** An item of a request: a payload, or an error message that names the field. */
export type Item = { readonly payload: Payload } | { readonly error: string };

/** A hit and the reason it is ignored; undefined if it is accepted. */
export interface HitVerdict {
  readonly siteId: string;
  readonly visit: Visit;
  readonly site: Site | undefined;
  reason: Reason | undefined;
}

/** An item that is not a valid payload. */
export interface InvalidItem {
  readonly error: string;
  readonly visit?: undefined;
  readonly site?: undefined;
  reason: Reason | undefined;
}

/** Payload rules for unknown sites. */
const NO_RULES: PayloadRules = { domains: [], allowedEventProperties: [] };

/** Validates the items of a request, in order. */
export const createHitValidator =
  ({ directory, isTokenOf, agents, filterBots }: HitValidatorPorts) =>
  async (
    items: readonly Item[],
    { origin, referer, privacySignal, token, seen, isBatch }: Sender,
    userAgent: string,
  ): Promise<readonly (HitVerdict | InvalidItem)[]> => {
    const ids = items.map((item) => ('payload' in item ? parseSiteId(item.payload.site) : undefined));
    const find = await directory.find(
      ids.filter((id) => id !== undefined),
      seen,
    );
    const source = origin === undefined ? undefined : { host: parseUrlHost(origin) };
    return items.map((item, index): HitVerdict | InvalidItem => {
      if ('error' in item) return { error: item.error, reason: 'invalid_payload' };
      const site = find(ids[index] ?? '');
      const visit = parseVisit(item.payload, { origin, referer }, site ?? NO_RULES);
      if (!visit) return { error: `${isBatch ? `[${index}].` : ''}event must be a name`, reason: 'invalid_payload' };
      const reason = rejectionReason(site, {
        privacySignal,
        host: visit.host,
        origin: source,
        hasToken: () => site !== undefined && isTokenOf(site, token),
        isBot: () => filterBots && agents.isBot(userAgent),
      });
      return { siteId: ids[index] ?? clean(item.payload.site, 80), visit, site, reason };
    });
  };

export const isAccepted = ({ reason }: { readonly reason: Reason | undefined }) => reason === undefined;

/** Describes a hit for diagnostics. With a privacy signal the visited page is withheld. */
export function attemptOf(
  { siteId, visit, reason }: HitVerdict,
  { privacySignal }: Sender,
  timestamp: string,
): Attempt {
  const { kind, host, hit } = visit;
  const page = { host: host ?? null, path: hit.path, eventName: hit.event ?? null };
  const noPage = { host: null, path: null, eventName: null };
  return {
    accepted: reason === undefined,
    reason: reason ?? null,
    siteId,
    ...(privacySignal ? noPage : page),
    kind,
    timestamp,
  };
}

/** A collected hit, for people who debug a tracker. Unknown or withheld fields are null; `timestamp` in ISO 8601. */
export interface Attempt {
  readonly accepted: boolean;
  readonly reason: Reason | null;
  readonly siteId: string;
  readonly host: string | null;
  readonly path: string | null;
  readonly kind: 'pageview' | 'event';
  readonly eventName: string | null;
  readonly timestamp: string;
}

/** Attempts by site instance, or by unknown site id. `bytes`: running total of the attempts. */
type AttemptCache = LRUCache<string, { readonly oldestFirst: Attempt[]; readonly bytes: number }>;

export interface RecentAttempts {
  /** `instance` is undefined if the site id is unknown. */
  record(attempt: Attempt, instance: string | undefined): void;
  /** Lists attempts, newest first: of the site instance, or of an unknown site id. */
  list(siteId: string, instance: string | undefined): readonly Attempt[];
  /** Drops the attempts of a deleted site. */
  forget(instance: string): void;
  readonly cache: Cache;
}

const MAX_PER_SITE = 50;
const ATTEMPTS_BYTES = 2 * 1024 * 1024;
const SITE_BYTES = 200;
/** Overhead per attempt beside its texts. */
const ATTEMPT_BYTES = 320;
const CHARACTER_BYTES = 2;

/**
 * Keeps recent attempts per site, in memory only. Includes unknown site ids, as they may be misspelt. Ids are client
 * input, so the cache is bounded in bytes.
 */
export function createRecentAttempts(limitBytes = ATTEMPTS_BYTES): RecentAttempts {
  const half = (): AttemptCache =>
    new LRUCache({
      maxSize: limitBytes / 2,
      sizeCalculation: ({ bytes }, key) => SITE_BYTES + CHARACTER_BYTES * key.length + bytes,
    });
  /** Separate halves, so that invented site ids cannot evict the attempts of real sites. */
  const [known, unknown] = [half(), half()];
  return {
    record(attempt, instance) {
      const [sites, key] = instance === undefined ? [unknown, attempt.siteId] : [known, instance];
      const { oldestFirst, bytes } = sites.peek(key) ?? { oldestFirst: [], bytes: 0 };
      const dropped = oldestFirst.length === MAX_PER_SITE ? oldestFirst.shift() : undefined;
      oldestFirst.push(attempt);
      const grown = bytesOf(attempt) - (dropped ? bytesOf(dropped) : 0);
      sites.set(key, { oldestFirst, bytes: bytes + grown });
    },
    list: (siteId, instance) =>
      (instance === undefined ? unknown.get(siteId) : known.get(instance))?.oldestFirst.toReversed() ?? [],
    forget: (instance) => void known.delete(instance),
    cache: {
      name: 'analytics.attempts',
      limitBytes,
      bytes: () => known.calculatedSize + unknown.calculatedSize,
    },
  };
}

const bytesOf = ({ siteId, host, path, eventName }: Attempt) =>
  ATTEMPT_BYTES +
  CHARACTER_BYTES * (siteId.length + (host?.length ?? 0) + (path?.length ?? 0) + (eventName?.length ?? 0));
