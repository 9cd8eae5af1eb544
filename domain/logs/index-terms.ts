/** Hashes words and `path=value` pairs of a record to 32-bit index terms, stored encrypted because they can be guessed. */
import type { Filter } from './filter.js';
import type { Json, JsonObject } from './json.js';
import { type LogRecord, messageOf } from './record.js';
import { isWordCharacter } from './tokenizer.js';

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a over UTF-16 code units. */
function hash(text: string, seed = SEED): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), PRIME);
  return value | 0;
}

export const eventTerm = (event: string): number => hash(event, SEED ^ 2);
export const correlationTerm = (id: string): number => hash(id, SEED ^ 3);

/** A path into records, with the seed for hashes of its values. */
export interface Path {
  /** Keys separated by dots; undefined for the record itself. */
  readonly text: string | undefined;
  readonly seed: number;
  readonly children: Map<string, Path>;
}

/** Characters cached of paths, which repeat across records; keys made of ids would fill memory, so it starts over. */
const CACHE_CHARACTERS = 2_000_000;
const PATH_CHARACTERS = 100;
export const root: Path = { text: undefined, seed: 0, children: new Map() };
let cachedCharacters = 0;

/** Array indexes and numeric keys are left out of hashes, because a query cannot tell them apart. */
const INDEX = /(?:^|\.)\d+(?=\.|$)/g;

export function childPath(path: Path, key: string): Path {
  const cached = path.children.get(key);
  if (cached) return cached;
  const text = path.text === undefined ? key : `${path.text}.${key}`;
  const hashed = text.replace(INDEX, '').replace(/^\./, '');
  const child: Path = { text, seed: hash(hashed, SEED ^ 1), children: new Map() };
  cachedCharacters += key.length + text.length + PATH_CHARACTERS;
  if (cachedCharacters > CACHE_CHARACTERS) {
    cachedCharacters = 0;
    root.children.clear();
  }
  path.children.set(key, child);
  return child;
}

export function termsAt(path: Path, value: Json, onTerm: (term: number) => void): void {
  if (typeof value === 'string') {
    onTerm(hash(value, path.seed));
    wordTerms(value, onTerm);
  } else if (typeof value !== 'object' || value === null) {
    onTerm(hash(String(value), path.seed));
  } else if (Array.isArray(value)) {
    for (const member of value) termsAt(path, member, onTerm);
  } else {
    for (const key in value) termsAt(childPath(path, key), (value as JsonObject)[key]!, onTerm);
  }
}

/** Words of a message that is not a string: `termsAt` finds words in strings only. */
export function messageTerms({ message, data }: LogRecord, onTerm: (term: number) => void): void {
  if (typeof messageOf(data) !== 'string') wordTerms(message, onTerm);
}

/** Tokenizes and hashes in one pass, because it runs over every ingested character. */
function wordTerms(text: string, onTerm: (term: number) => void): void {
  const lower = text.toLowerCase();
  let value = SEED;
  let inWord = false;
  for (let at = 0; at < lower.length; at++) {
    const code = lower.charCodeAt(at);
    if (isWordCharacter(code)) {
      value = Math.imul(value ^ code, PRIME);
      inWord = true;
    } else if (inWord) {
      onTerm(value | 0);
      value = SEED;
      inWord = false;
    }
  }
  if (inWord) onTerm(value | 0);
}

export function termsOfFilter({ event, correlationId, fields, words }: Filter): number[] {
  return [
    ...(event === undefined ? [] : [eventTerm(event)]),
    ...(correlationId === undefined ? [] : [correlationTerm(correlationId)]),
    ...fields.map(({ path, value }) => hash(value, childPath(root, path).seed)),
    ...words.map((word) => hash(word)),
  ];
}
