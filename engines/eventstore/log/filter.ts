/** Server-side filters: judged by a record's header, remembered by stream number or type. */
import type { FilterRequest } from '../wire/read-request.js';
import { eventTypeOf, streamNameOf, streamNumberOf } from './record.js';
import { categoryOf } from './streams.js';

export interface Filter {
  matches(record: Buffer): boolean;
  /** The one category that everything it matches is in; undefined when it may be anywhere. */
  readonly category: string | undefined;
  readonly checkpointInterval: number;
}

export function compileFilter({ on, prefixes, checkpointInterval }: FilterRequest): Filter {
  const test = (text: string) => prefixes.some((prefix) => text.startsWith(prefix));
  const verdicts = new Map<number | string, boolean>();
  const remember = (key: number | string, text: () => string): boolean => {
    let verdict = verdicts.get(key);
    if (verdict === undefined) {
      if (verdicts.size >= REMEMBERED) verdicts.clear();
      verdict = test(text());
      verdicts.set(key, verdict);
    }
    return verdict;
  };
  const byStream = (record: Buffer) => remember(streamNumberOf(record), () => streamNameOf(record));
  const byType = (record: Buffer) => {
    const type = eventTypeOf(record);
    return remember(type, () => type);
  };
  return {
    matches: on === 'stream' ? byStream : byType,
    category: on === 'stream' ? sharedCategory(prefixes) : undefined,
    checkpointInterval,
  };
}

const REMEMBERED = 20_000;

/** A prefix with a dot in it fixes the category; all prefixes must fix the same one. */
function sharedCategory(prefixes: readonly string[]): string | undefined {
  const categories = new Set(prefixes.map(categoryOf));
  const [category] = categories;
  return categories.size === 1 && category !== '' ? category : undefined;
}
