/** Words and `path=value` pairs of a record, as 32-bit hashes: an index remembers them, sealed, for they can be guessed. */
import type { Filter } from './filter.js';
import type { Json, JsonObject } from './json.js';
import type { LogRecord } from './record.js';
import { isWordCode } from './tokenizer.js';

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over UTF-16 code units. */
function hash(text: string, seed = SEED): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), PRIME);
  return value | 0;
}

/** The terms of an event and of a correlation id. */
export const eventTerm = (event: string): number => hash(event, SEED ^ 2);
export const correlationTerm = (id: string): number => hash(id, SEED ^ 3);

/** A path into records, and the seed for the hashes of what stands there. */
export interface Path {
  readonly text: string;
  readonly seed: number;
  readonly below: Map<string, Path>;
}

/** Records repeat their paths: each is hashed once. Past so many characters (keys made of ids) it starts anew. */
const CHARACTERS_REMEMBERED = 2_000_000;
/** What a remembered path takes besides its text and key, as characters. */
const PATH_CHARACTERS = 100;
export const root: Path = { text: '', seed: 0, below: new Map() };
let remembered = 0;

/** Array indexes are left out of paths, and so is every step of digits alone: a query's may be an index. */
const INDEX = /(?:^|\.)\d+(?=\.|$)/g;

/** The path that a key leads to. */
export function below(path: Path, key: string): Path {
  const known = path.below.get(key);
  if (known) return known;
  const text = (path.text === '' ? key : `${path.text}.${key}`).replace(INDEX, '').replace(/^\./, '');
  const made: Path = { text, seed: hash(text, SEED ^ 1), below: new Map() };
  remembered += key.length + text.length + PATH_CHARACTERS;
  if (remembered > CHARACTERS_REMEMBERED) {
    remembered = 0;
    root.below.clear();
  }
  path.below.set(key, made);
  return made;
}

/** Gives every term of a record, some of them more than once. */
export function termsOf(record: LogRecord, found: (term: number) => void): void {
  if (record.event !== undefined) found(eventTerm(record.event));
  if (record.correlationId !== undefined) found(correlationTerm(record.correlationId));
  termsAt(root, record.data, found);
}

/** Gives every term of a value that stands at a path. */
export function termsAt(path: Path, value: Json, found: (term: number) => void): void {
  if (typeof value === 'string') {
    found(hash(value, path.seed));
    wordTerms(value, found);
  } else if (typeof value !== 'object' || value === null) {
    found(hash(String(value), path.seed));
  } else if (Array.isArray(value)) {
    for (const member of value) termsAt(path, member, found);
  } else {
    for (const key in value) termsAt(below(path, key), (value as JsonObject)[key]!, found);
  }
}

/** `wordsOf`, hashed on the way: this runs over every character that is ever ingested. */
function wordTerms(text: string, found: (term: number) => void): void {
  const lower = text.toLowerCase();
  let value = SEED;
  let inside = false;
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    if (isWordCode(code)) {
      value = Math.imul(value ^ code, PRIME);
      inside = true;
    } else if (inside) {
      found(value | 0);
      value = SEED;
      inside = false;
    }
  }
  if (inside) found(value | 0);
}

/** What a record must have to pass the filter: every record that passes has all of these terms. */
export function termsOfFilter({ event, correlationId, fields, words }: Filter): number[] {
  return [
    ...(event === undefined ? [] : [eventTerm(event)]),
    ...(correlationId === undefined ? [] : [correlationTerm(correlationId)]),
    ...fields.map(({ path, value }) => hash(value, below(root, path).seed)),
    ...words.map((word) => hash(word)),
  ];
}
