/** Which records a query is about: the meaning of every filter, over one record. */
import type { Json, JsonObject } from './json.js';
import type { LogRecord } from './record.js';
import { wordsOf } from './words.js';

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

/** The strings, numbers, booleans and nulls a dotted path leads to; a key may have dots in it itself. */
export function leavesAt(data: JsonObject, path: string): readonly Leaf[] {
  const found: Leaf[] = [];
  collect(data, path, found);
  return found;
}

function collect(value: Json | undefined, path: string | undefined, found: Leaf[]) {
  if (typeof value !== 'object' || value === null) {
    if (path === undefined && value !== undefined) found.push(value);
  } else if (Array.isArray(value)) {
    for (const member of value) collect(member, path, found);
    // An index is a key of an array like any other.
    if (path !== undefined) descend(Object.fromEntries(value.entries()) as JsonObject, path, found);
  } else if (path !== undefined) descend(value as JsonObject, path, found);
}

function descend(holder: JsonObject, path: string, found: Leaf[]) {
  for (let dot = path.indexOf('.'); ; dot = path.indexOf('.', dot + 1)) {
    const key = dot < 0 ? path : path.slice(0, dot);
    if (Object.hasOwn(holder, key)) collect(holder[key], dot < 0 ? undefined : path.slice(dot + 1), found);
    if (dot < 0) return;
  }
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
