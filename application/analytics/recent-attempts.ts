/** What was tried lately at each site, in memory only: for those who install a tracker and see nothing come. */
import { LRUCache } from 'lru-cache';
import type { Reason } from '../../domain/analytics/hit-rules.js';
import type { Cache } from '../ports/index.js';

/** What is not known, or not to be known, is null; `timestamp` in ISO 8601. */
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

/** By the instance of a site, or by an id that no site has. `bytes`: of all of them, counted as they come and go. */
type Shelf = LRUCache<string, { readonly oldestFirst: Attempt[]; readonly bytes: number }>;

export interface RecentAttempts {
  /** `instance`: of the site, where there is one. */
  record(attempt: Attempt, instance: string | undefined): void;
  /** Newest first: those at a site in its present life or, where there is none of this id, at the id. */
  list(siteId: string, instance: string | undefined): readonly Attempt[];
  /** The site is deleted. */
  forget(instance: string): void;
  readonly cache: Cache;
}

const KEPT = 50;
const ATTEMPTS_BYTES = 2 * 1024 * 1024;
const SITE_BYTES = 200;
/** Besides its texts, of which each character takes two bytes at most. Counted with every hit: nothing is looked through for it. */
const ATTEMPT_BYTES = 320;
const CHARACTER_BYTES = 2;

/** Of sites that there are not, too: it is their mistyped ids that are looked for. So it is bounded in bytes, not in sites. */
export function createAttempts(limitBytes = ATTEMPTS_BYTES): RecentAttempts {
  const half = (): Shelf =>
    new LRUCache({
      maxSize: limitBytes / 2,
      sizeCalculation: ({ bytes }, key) => SITE_BYTES + CHARACTER_BYTES * key.length + bytes,
    });
  /** Apart: whoever makes up ids of sites takes no room of those that there are. */
  const [known, unknown] = [half(), half()];
  return {
    record(attempt, instance) {
      const [sites, key] = instance === undefined ? [unknown, attempt.siteId] : [known, instance];
      const { oldestFirst, bytes } = sites.peek(key) ?? { oldestFirst: [], bytes: 0 };
      const dropped = oldestFirst.length === KEPT ? oldestFirst.shift() : undefined;
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
