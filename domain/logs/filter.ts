/** Filters of log queries, and their exact meaning for one record. */
import type { Json, JsonObject } from './json.js';
import type { LogRecord } from './record.js';
import { tokenize } from './tokenizer.js';

export interface FieldEquals {
  /** Dotted path into the record's JSON; `tags=x` matches if any array element does. */
  readonly path: string;
  /** Compared as text: `200` matches 200 and "200". */
  readonly value: string;
}

/** Records with any of these are left out. */
export interface Exclusions {
  /** Upper case. */
  readonly levels: readonly string[];
  readonly events: readonly string[];
  readonly producerIds: readonly string[];
  readonly fields: readonly FieldEquals[];
}

export interface Filter {
  /** Unix ms, inclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Upper case; a record matches any of them. */
  readonly levels?: readonly string[];
  readonly event?: string;
  readonly producerId?: string;
  readonly correlationId?: string;
  readonly audit?: boolean;
  readonly fields: readonly FieldEquals[];
  /** Lower case; all must occur in the record's texts. */
  readonly words: readonly string[];
  readonly not?: Exclusions;
}

export const EVERYTHING: Filter = { fields: [], words: [] };

/** Whether the filter uses only time, level, producer and audit, which need no access to the record itself. */
export const isRecordFree = ({ event, correlationId, fields, words, not }: Filter): boolean =>
  event === undefined &&
  correlationId === undefined &&
  fields.length === 0 &&
  words.length === 0 &&
  (not === undefined || (not.events.length === 0 && not.fields.length === 0));

/** Whether a record matches. The reference for the index, which must return exactly these records. */
export function matches(filter: Filter, record: LogRecord): boolean {
  const { from, to, levels, event, producerId, correlationId, audit, fields, words, not } = filter;
  return (
    (from === undefined || record.instant >= from) &&
    (to === undefined || record.instant <= to) &&
    (levels === undefined || levels.includes(record.level)) &&
    (event === undefined || record.event === event) &&
    (producerId === undefined || record.producerId === producerId) &&
    (correlationId === undefined || record.correlationId === correlationId) &&
    (audit === undefined || record.audit === audit) &&
    fields.every((field) => hasField(record, field)) &&
    (not === undefined || !isExcluded(record, not)) &&
    (words.length === 0 || hasWords(record, words))
  );
}

const hasField = ({ data }: LogRecord, { path, value }: FieldEquals) =>
  leavesAt(data, path).some((leaf) => String(leaf) === value);

const isExcluded = (record: LogRecord, { levels, events, producerIds, fields }: Exclusions) =>
  levels.includes(record.level) ||
  (record.event !== undefined && events.includes(record.event)) ||
  producerIds.includes(record.producerId) ||
  fields.some((field) => hasField(record, field));

export type Leaf = string | number | boolean | null;

/**
 * Distinct scalars at a dotted path; keys may contain dots. Visits each value of the record at most once, with all
 * offsets in the path that lead to it.
 */
export function leavesAt(data: JsonObject, path: string): readonly Leaf[] {
  const found: Leaf[] = [];
  collect(data, [0], path, found);
  return found;
}

const END = -1;

function collect(value: Json, offsets: readonly number[], path: string, found: Leaf[]) {
  if (typeof value !== 'object' || value === null) {
    if (offsets.includes(END)) found.push(value);
  } else if (Array.isArray(value)) {
    const indexed = offsetsByIndex(value.length, offsets, path);
    for (let index = 0; index < value.length; index++) {
      // Paths may skip array indexes, or use them as keys.
      const indexOffsets = indexed?.get(index);
      collect(value[index], indexOffsets ? [...new Set([...offsets, ...indexOffsets])] : offsets, path, found);
    }
  } else {
    for (const key in value) {
      const next = offsetsAfterKey(key, offsets, path);
      if (next) collect((value as JsonObject)[key]!, next, path, found);
    }
  }
}

function offsetsAfterKey(key: string, offsets: readonly number[], path: string): number[] | undefined {
  let next: number[] | undefined;
  for (const offset of offsets) {
    if (offset === END || !path.startsWith(key, offset)) continue;
    const end = offset + key.length;
    if (end !== path.length && path[end] !== '.') continue;
    next ??= [];
    next.push(end === path.length ? END : end + 1);
  }
  return next;
}

const INDEX = /(?:0|[1-9]\d{0,9})(?=\.|$)/y;

function offsetsByIndex(length: number, offsets: readonly number[], path: string) {
  let found: Map<number, number[]> | undefined;
  for (const offset of offsets) {
    if (offset === END) continue;
    INDEX.lastIndex = offset;
    const [digits] = INDEX.exec(path) ?? [];
    if (digits === undefined || Number(digits) >= length) continue;
    found ??= new Map();
    const end = offset + digits.length;
    const next = end === path.length ? END : end + 1;
    found.set(Number(digits), [...(found.get(Number(digits)) ?? []), next]);
  }
  return found;
}

function hasWords({ message, data }: LogRecord, words: readonly string[]): boolean {
  const missing = new Set(words);
  const search = (value: Json): boolean => {
    if (typeof value === 'string') for (const word of tokenize(value)) missing.delete(word);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) if (search(member)) return true;
    return missing.size === 0;
  };
  return search(message) || search(data);
}
