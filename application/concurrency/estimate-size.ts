/** Estimates the memory of a value, to limit caches by bytes. */
import { PersistentMap } from '../../domain/shared/index.js';

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
