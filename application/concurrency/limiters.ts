/**
 * Limiters: rate limiters (token buckets and sliding windows, alone, combined and by name), budgets of bytes or items,
 * which one caller cannot exhaust, with the estimate of a value's bytes, and a limit of parallel jobs.
 */
import { LRUCache } from 'lru-cache';
import { PersistentMap } from '../../domain/shared/index.js';
import type { Clock } from '../ports/index.js';

export interface RateLimiter {
  /** Returns the milliseconds until `amount` actions are allowed; 0 if they are now. */
  wait(amount?: number): number;
  /** Counts actions, allowed or not; a negative amount takes back the newest. */
  consume(amount?: number): void;
  /** Returns the milliseconds after which it is like a new one, if nothing is consumed until then. */
  idleMs(): number;
}

/** Combines limiters into one that waits for the slowest and consumes from all. */
export const combine = (...limiters: readonly RateLimiter[]): RateLimiter => ({
  wait: (amount) => Math.max(...limiters.map((limiter) => limiter.wait(amount))),
  consume(amount) {
    for (const limiter of limiters) limiter.consume(amount);
  },
  idleMs: () => Math.max(...limiters.map((limiter) => limiter.idleMs())),
});

export interface TokenBucketOptions {
  readonly burst: number;
  readonly perSecond: number;
}

/**
 * Creates a full bucket. It may go below zero; the next caller waits longer then.
 *
 * @param clock Monotonic.
 */
export function createTokenBucket({ burst, perSecond }: TokenBucketOptions, clock: Clock = performance): RateLimiter {
  let tokens = burst;
  let refilledAt = clock.now();
  function refill() {
    const now = clock.now();
    tokens = Math.min(burst, tokens + ((now - refilledAt) / 1000) * perSecond);
    refilledAt = now;
  }
  const msUntil = (amount: number) => {
    refill();
    return tokens >= amount ? 0 : ((amount - tokens) / perSecond) * 1000;
  };
  return {
    wait: (amount = 1) => msUntil(amount),
    consume(amount = 1) {
      refill();
      tokens -= amount;
    },
    idleMs: () => msUntil(burst),
  };
}

/**
 * Allows `limit` actions within any `perMs`; a fixed window would allow double the number around its edge.
 *
 * @param clock Monotonic.
 */
export function createSlidingWindow(limit: number, perMs: number, clock: Clock = performance): RateLimiter {
  /** Times of actions, oldest first. */
  const times: number[] = [];
  function dropOld() {
    const now = clock.now();
    while (times[0] !== undefined && now - times[0] >= perMs) times.shift();
    return now;
  }
  return {
    wait(amount = 1) {
      const now = dropOld();
      const blocking = times[times.length + amount - limit - 1];
      return blocking === undefined ? 0 : blocking + perMs - now;
    },
    consume(amount = 1) {
      const now = dropOld();
      if (amount < 0) times.splice(amount);
      for (let n = 0; n < amount; n++) times.push(now);
    },
    idleMs() {
      const now = dropOld();
      return (times.at(-1) ?? now - perMs) + perMs - now;
    },
  };
}

/** Limiters in memory; beyond that the least recently used one starts anew. */
const MAX_LIMITERS = 50_000;
/** Actions between removals of idle limiters. */
const PURGE_EVERY = 1000;

/** Creates one limiter per name. Only `consume` stores it: refused requests with new names must not evict others. */
export function createRateLimiters(create: () => RateLimiter): (name: string) => RateLimiter {
  // `max` would allocate room for all of them at the start, 1.5 MB for each use.
  const limiters = new LRUCache<string, RateLimiter>({ maxSize: MAX_LIMITERS, sizeCalculation: () => 1 });
  const limiterOf = (name: string) => limiters.get(name) ?? create();
  let actions = 0;
  return (name) => ({
    wait: (amount) => limiterOf(name).wait(amount),
    idleMs: () => limiterOf(name).idleMs(),
    consume(amount) {
      const limiter = limiterOf(name);
      limiter.consume(amount);
      // 0 would mean forever.
      limiters.set(name, limiter, { ttl: Math.ceil(limiter.idleMs()) + 1 });
      if (++actions % PURGE_EVERY === 0) limiters.purgeStale();
    },
  });
}

/** Why an acquisition failed: the caller's `share` is used up, or the budget is `full` even for new callers. */
export type Shortage = 'share' | 'full';

/** Amount held by one request, connection or job. */
export interface Reservation {
  /** Acquires more; on a shortage acquires nothing and returns the reason. */
  acquire(amount: number): Shortage | undefined;
  giveBack(amount: number): void;
  release(): void;
}

/** Fill level of a bounded resource, for metrics. */
export interface Level {
  readonly name: string;
  readonly limit: number;
  used(): number;
}

export interface Budget extends Level {
  /** @param tenant Network or caller that the amount is charged to; without one only the total limit applies. */
  reserve(tenant?: string): Reservation;
}

/**
 * Largest share of a tenant, as a multiple of the free remainder: two thirds of the budget for the first, two thirds of
 * the rest for the next. With fixed halves two networks could take everything, and any machine has two: IPv4 and IPv6.
 */
const MAX_SHARE_OF_FREE = 2;

/** Creates a budget. A new tenant can acquire as long as the budget lasts; the only tenant can acquire any amount. */
export function createBudget(name: string, limit: number): Budget {
  let used = 0;
  const shares = new Map<string, number>();

  function shortageFor(amount: number, share: number): Shortage | undefined {
    const free = limit - used - amount;
    if (share > 0 && share + amount > MAX_SHARE_OF_FREE * free) return 'share';
    return used > 0 && free < 0 ? 'full' : undefined;
  }

  function reserve(tenant?: string): Reservation {
    let amountHeld = 0;
    const change = (amount: number) => {
      amountHeld += amount;
      used += amount;
      if (tenant === undefined) return;
      const share = (shares.get(tenant) ?? 0) + amount;
      if (share > 0) shares.set(tenant, share);
      else shares.delete(tenant);
    };
    return {
      acquire(amount) {
        const shortage = shortageFor(amount, tenant === undefined ? 0 : (shares.get(tenant) ?? 0));
        if (!shortage) change(amount);
        return shortage;
      },
      giveBack: (amount) => change(-amount),
      release: () => change(-amountHeld),
    };
  }

  return { name, limit, used: () => used, reserve };
}

const POINTER = 8;
const HEADER = 24;
const HASH_ENTRY = 40;
/** V8 stores a text with any such character with two bytes per character. */
const WIDE = /[^\0-\xff]/;
/** Items of a list that are measured; the others are assumed to be alike. */
const SAMPLE_SIZE = 16;

/** Estimates bytes of JSON-like data with maps and bigints, in time independent of the length of lists. */
export function estimateBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return POINTER + HEADER + (WIDE.test(value) ? 2 : 1) * value.length;
    case 'number':
    case 'bigint':
      return POINTER + HEADER;
    case 'object':
      return POINTER + (value === null ? 0 : HEADER + objectBytes(value));
    default:
      return POINTER;
  }
}

function objectBytes(value: object): number {
  if (Array.isArray(value)) return sampleBytes(value, value.length);
  if (value instanceof Map || value instanceof PersistentMap)
    return HASH_ENTRY * value.size + sampleBytes(value, value.size);
  return Object.values(value).reduce((sum: number, each) => sum + estimateBytes(each), 0);
}

function sampleBytes(items: Iterable<unknown>, length: number): number {
  let [count, sum] = [0, 0];
  for (const item of items) {
    if (count++ === SAMPLE_SIZE) break;
    sum += estimateBytes(item);
  }
  return length <= SAMPLE_SIZE ? sum : Math.ceil((sum / SAMPLE_SIZE) * length);
}

/** Runs jobs in parallel up to a limit. */
export function createBoundedParallel(limit: number) {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  return {
    /** Resolves once the job has started. Rejects with the first failure of an earlier job, and starts nothing then. */
    async start(job: () => Promise<void>) {
      while (running.size >= limit) await Promise.race(running);
      if (failures.length > 0) throw failures[0];
      const result: Promise<void> = job()
        .catch((error) => void failures.push(error))
        .finally(() => running.delete(result));
      running.add(result);
    },
    /** Resolves when all jobs have ended; rejects with the first failure. */
    async finish() {
      await Promise.all(running);
      if (failures.length > 0) throw failures[0];
    },
  };
}
