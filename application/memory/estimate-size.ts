/** What a value takes in memory, roughly: caches are bounded by it, and counts say little about bytes. */
import { PersistentMap } from '../../domain/shared/index.js';

const POINTER = 8;
const HEADER = 24;
const HASH_ENTRY = 40;
/** Of a text that holds one of these, V8 keeps every character in two bytes. */
const WIDE = /[^\0-\xff]/;
/** Of longer lists a few are looked at: their items are alike. */
const SAMPLE = 16;

/** In bytes, of JSON-like data with maps and bigints; time grows with its depth, not with the length of its lists. */
export function estimateBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return POINTER + HEADER + (WIDE.test(value) ? 2 : 1) * value.length;
    case 'number':
    case 'bigint':
      return POINTER + HEADER;
    case 'object':
      return POINTER + (value === null ? 0 : HEADER + heldByObject(value));
    default:
      return POINTER;
  }
}

function heldByObject(value: object): number {
  if (Array.isArray(value)) return sampled(value, value.length);
  if (value instanceof Map || value instanceof PersistentMap)
    return HASH_ENTRY * value.size + sampled(value, value.size);
  return Object.values(value).reduce((sum: number, each) => sum + estimateBytes(each), 0);
}

function sampled(items: Iterable<unknown>, length: number): number {
  let [looked, sum] = [0, 0];
  for (const item of items) {
    if (looked++ === SAMPLE) break;
    sum += estimateBytes(item);
  }
  return length <= SAMPLE ? sum : Math.ceil((sum / SAMPLE) * length);
}
