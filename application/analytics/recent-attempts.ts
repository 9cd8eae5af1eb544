/** Recent collect attempts per site, in memory only: helps to debug a tracker installation. */
import { LRUCache } from 'lru-cache';
import type { Reason } from '../../domain/analytics/hit.js';
import type { Cache } from '../ports/index.js';

/** Unknown or withheld fields are null; `timestamp` in ISO 8601. */
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

/** Includes unknown site ids, as they may be misspelt. Ids are client input, so the cache is bounded in bytes. */
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
