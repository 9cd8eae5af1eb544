/** LRU cache of aggregates: small and large ones in separate caches, so that large ones do not evict all others. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../memory/estimate-size.js';
import type { Cache } from '../ports/index.js';

/** Bytes of all small aggregates. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** Bytes of all large aggregates, such as sets that a whole service decides on. */
const LARGE_BYTES = 192 * 1024 * 1024;
/** Share of the small cache from which an aggregate counts as large. */
const LARGE_SHARE = 1 / 8;
/**
 * Largest share of the large cache that one aggregate is charged. What a whole service decides on stays cached at any
 * size: reading it from the beginning takes longer than a request may.
 */
const MAX_SHARE = 1 / 4;

export interface AggregateCacheOptions {
  readonly smallBytes?: number;
  readonly largeBytes?: number;
}

export interface AggregateCache<Value extends object> {
  get(stream: string): Value | undefined;
  /** Reads without marking the entry as recently used. */
  peek(stream: string): Value | undefined;
  set(stream: string, value: Value): void;
  delete(stream: string): void;
  /** For metrics: the small and the large cache. */
  readonly caches: readonly [Cache, Cache];
}

/** @param stateOf Returns the part of a value that is measured. */
export function createAggregateCache<Value extends object>(
  stateOf: (value: Value) => unknown,
  { smallBytes = SMALL_BYTES, largeBytes = LARGE_BYTES }: AggregateCacheOptions = {},
): AggregateCache<Value> {
  const sizeOf = (value: Value, stream: string) => estimateBytes(stream) + estimateBytes(stateOf(value));
  const small = new LRUCache<string, Value>({ maxSize: smallBytes, sizeCalculation: sizeOf });
  const large = new LRUCache<string, Value>({
    maxSize: largeBytes,
    sizeCalculation: (value, stream) => Math.min(sizeOf(value, stream), largeBytes * MAX_SHARE),
  });
  /** Real size, not the capped one that eviction uses. */
  const bytesOfLarge = () => [...large.entries()].reduce((sum, [stream, value]) => sum + sizeOf(value, stream), 0);
  return {
    get: (stream) => small.get(stream) ?? large.get(stream),
    peek: (stream) => small.peek(stream) ?? large.peek(stream),
    set(stream, value) {
      const isLarge = sizeOf(value, stream) > smallBytes * LARGE_SHARE;
      (isLarge ? small : large).delete(stream);
      (isLarge ? large : small).set(stream, value);
    },
    delete(stream) {
      small.delete(stream);
      large.delete(stream);
    },
    caches: [
      { name: 'streams', limitBytes: smallBytes, bytes: () => small.calculatedSize },
      { name: 'large-streams', limitBytes: largeBytes, bytes: bytesOfLarge },
    ],
  };
}
