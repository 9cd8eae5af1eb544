/** What is remembered of streams: small states beside each other, and apart from them large ones, which would push out all others. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../memory/estimate-size.js';
import type { Cache } from '../ports/index.js';

/** Of all small ones together, and of all large ones, such as sets that a whole service decides on. */
const REMEMBERED_BYTES = 16 * 1024 * 1024;
const LARGE_BYTES = 192 * 1024 * 1024;
/** From this part of what all small ones may have, one is large. */
const LARGE_PART = 1 / 8;
/**
 * Of what all large ones may have, one counts for no more than this: what a whole service decides on is remembered
 * however large it is, since it would be read from its beginning with every request, which takes longer than they have.
 */
const MOST_PART = 1 / 4;

export interface AggregateCacheOptions {
  readonly smallBytes?: number;
  readonly largeBytes?: number;
}

export interface Remembering<Value extends object> {
  get(stream: string): Value | undefined;
  /** Without making it the one that was asked for last. */
  peek(stream: string): Value | undefined;
  set(stream: string, value: Value): void;
  delete(stream: string): void;
  /** The small ones, and the large ones. */
  readonly caches: readonly [Cache, Cache];
}

/** `stateOf`: what of a value counts. */
export function createAggregateCache<Value extends object>(
  stateOf: (value: Value) => unknown,
  { smallBytes = REMEMBERED_BYTES, largeBytes = LARGE_BYTES }: AggregateCacheOptions = {},
): Remembering<Value> {
  const sizeOf = (value: Value, stream: string) => estimateBytes(stream) + estimateBytes(stateOf(value));
  const small = new LRUCache<string, Value>({ maxSize: smallBytes, sizeCalculation: sizeOf });
  const large = new LRUCache<string, Value>({
    maxSize: largeBytes,
    sizeCalculation: (value, stream) => Math.min(sizeOf(value, stream), largeBytes * MOST_PART),
  });
  /** As they are, whatever they count. */
  const heldByLarge = () => [...large.entries()].reduce((sum, [stream, value]) => sum + sizeOf(value, stream), 0);
  return {
    get: (stream) => small.get(stream) ?? large.get(stream),
    peek: (stream) => small.peek(stream) ?? large.peek(stream),
    set(stream, value) {
      const isLarge = sizeOf(value, stream) > smallBytes * LARGE_PART;
      (isLarge ? small : large).delete(stream);
      (isLarge ? large : small).set(stream, value);
    },
    delete(stream) {
      small.delete(stream);
      large.delete(stream);
    },
    caches: [
      { name: 'streams', limitBytes: smallBytes, bytes: () => small.calculatedSize },
      { name: 'large-streams', limitBytes: largeBytes, bytes: heldByLarge },
    ],
  };
}
