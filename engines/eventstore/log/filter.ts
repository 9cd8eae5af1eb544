/** Server-side filters. Evaluated on a record's header and cached by stream number or event type. */
import type { FilterRequest } from '../wire/read-request.js';
import { eventTypeOf, streamNameOf, streamNumberOf } from './record.js';
import { categoryOf } from './streams.js';

export interface Filter {
  matches(record: Buffer): boolean;
  /** The category that all matches belong to; undefined if they may be in several. */
  readonly category: string | undefined;
  readonly checkpointInterval: number;
}

export function compileFilter({ on, prefixes, checkpointInterval }: FilterRequest): Filter {
  const test = (text: string) => prefixes.some((prefix) => text.startsWith(prefix));
  const cache = new Map<number | string, boolean>();
  const memoize = (key: number | string, text: () => string): boolean => {
    let match = cache.get(key);
    if (match === undefined) {
      if (cache.size >= CACHE_SIZE) cache.clear();
      match = test(text());
      cache.set(key, match);
    }
    return match;
  };
  const byStream = (record: Buffer) => memoize(streamNumberOf(record), () => streamNameOf(record));
  const byType = (record: Buffer) => {
    const type = eventTypeOf(record);
    return memoize(type, () => type);
  };
  return {
    matches: on === 'stream' ? byStream : byType,
    category: on === 'stream' ? sharedCategory(prefixes) : undefined,
    checkpointInterval,
  };
}

const CACHE_SIZE = 20_000;

/** Returns the category that all prefixes fix by containing a dot, if it is the same one. */
function sharedCategory(prefixes: readonly string[]): string | undefined {
  const categories = new Set(prefixes.map(categoryOf));
  const [category] = categories;
  return categories.size === 1 && category !== '' ? category : undefined;
}
