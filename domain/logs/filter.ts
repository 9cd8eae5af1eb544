/** Which records a query is about: the meaning of every filter, over one record. */
import type { Json, JsonObject } from './json.js';
import type { LogRecord } from './record.js';
import { wordsOf } from './tokenizer.js';

export interface FieldEquals {
  /** Dotted, into the record as it came; `tags=x` holds if any member of an array does. */
  readonly path: string;
  /** Compared as text: `200` finds both 200 and "200". */
  readonly value: string;
}

export interface Filter {
  /** Unix ms, inclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Upper case; any of them. */
  readonly levels?: readonly string[];
  readonly event?: string;
  readonly producerId?: string;
  readonly correlationId?: string;
  readonly audit?: boolean;
  readonly fields: readonly FieldEquals[];
  /** Lower case; all of them must occur among the words of the record's texts. */
  readonly words: readonly string[];
}

export const EVERYTHING: Filter = { fields: [], words: [] };

/** Whether instant, level, producer and audit say all: the record itself need not be looked at. */
export const isColumns = ({ event, correlationId, fields, words }: Filter): boolean =>
  event === undefined && correlationId === undefined && fields.length === 0 && words.length === 0;

/** Whether a record passes. The index may only ever save work: what it finds is what this says. */
export function matches(filter: Filter, record: LogRecord): boolean {
  const { from, to, levels, event, producerId, correlationId, audit, fields, words } = filter;
  return (
    (from === undefined || record.instant >= from) &&
    (to === undefined || record.instant <= to) &&
    (levels === undefined || levels.includes(record.level)) &&
    (event === undefined || record.event === event) &&
    (producerId === undefined || record.producerId === producerId) &&
    (correlationId === undefined || record.correlationId === correlationId) &&
    (audit === undefined || record.audit === audit) &&
    fields.every(({ path, value }) => leavesAt(record.data, path).some((leaf) => String(leaf) === value)) &&
    (words.length === 0 || hasWords(record.data, words))
  );
}

export type Leaf = string | number | boolean | null;

/**
 * The strings, numbers, booleans and nulls a dotted path leads to, each once; a key may have dots in it itself.
 * Every value of the record is looked at once at most, with all the places in the path that lead to it.
 */
export function leavesAt(data: JsonObject, path: string): readonly Leaf[] {
  const found: Leaf[] = [];
  collect(data, [0], path, found);
  return found;
}

/** Where the path goes on, in characters; this is where it has come to its end. */
const END = -1;

function collect(value: Json, places: readonly number[], path: string, found: Leaf[]) {
  if (typeof value !== 'object' || value === null) {
    if (places.includes(END)) found.push(value);
  } else if (Array.isArray(value)) {
    const indexed = placesByIndex(value.length, places, path);
    for (let index = 0; index < value.length; index++) {
      // A path passes through an array as if it were not there; an index is a key of it like any other.
      const more = indexed?.get(index);
      collect(value[index], more ? [...new Set([...places, ...more])] : places, path, found);
    }
  } else {
    for (const key in value) {
      const next = beyond(key, places, path);
      if (next) collect((value as JsonObject)[key]!, next, path, found);
    }
  }
}

/** The places that follow a key, of those at which it stands. */
function beyond(key: string, places: readonly number[], path: string): number[] | undefined {
  let next: number[] | undefined;
  for (const place of places) {
    if (place === END || !path.startsWith(key, place)) continue;
    const end = place + key.length;
    if (end !== path.length && path[end] !== '.') continue;
    next ??= [];
    next.push(end === path.length ? END : end + 1);
  }
  return next;
}

const INDEX = /(?:0|[1-9]\d{0,9})(?=\.|$)/y;

function placesByIndex(length: number, places: readonly number[], path: string) {
  let found: Map<number, number[]> | undefined;
  for (const place of places) {
    if (place === END) continue;
    INDEX.lastIndex = place;
    const [digits] = INDEX.exec(path) ?? [];
    if (digits === undefined || Number(digits) >= length) continue;
    found ??= new Map();
    const end = place + digits.length;
    const next = end === path.length ? END : end + 1;
    found.set(Number(digits), [...(found.get(Number(digits)) ?? []), next]);
  }
  return found;
}

function hasWords(data: JsonObject, words: readonly string[]): boolean {
  const missing = new Set(words);
  const look = (value: Json): boolean => {
    if (typeof value === 'string') for (const word of wordsOf(value)) missing.delete(word);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) if (look(member)) return true;
    return missing.size === 0;
  };
  return look(data);
}
