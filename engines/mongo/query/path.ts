/** Dotted paths into documents, and the values found at their ends. */
import { elementsOf, fieldNamed, Type, type Value } from '../bson/value.js';
import { notImplemented } from '../errors.js';

/** A dotted path, split once. */
export interface Path {
  readonly text: string;
  readonly names: readonly string[];
  readonly parts: readonly Part[];
}

interface Part {
  readonly name: string;
  readonly bytes: Buffer;
  /** True if the part may denote an element of an array. */
  readonly isPosition: boolean;
}

export const isPosition = (name: string): boolean => /^(0|[1-9]\d{0,8})$/.test(name);

/** Parsed paths. Statements use the same few paths, and parsing them would be most of the work. */
const CACHE = new Map<string, Path>();
const MAX_CACHED = 2000;

export function pathOf(text: string): Path {
  const cached = CACHE.get(text);
  if (cached) return cached;
  const names = text.split('.');
  const parts = names.map((name) => ({
    name,
    bytes: Buffer.from(name),
    isPosition: isPosition(name),
  }));
  const path = { text, names, parts };
  if (CACHE.size >= MAX_CACHED) CACHE.clear();
  if (text.length < 200) CACHE.set(text, path);
  return path;
}

/** Parses a path without positions. Errors: `code` if there is one; `feature` names the unsupported feature. */
export function plainPath(text: string, feature: string, code = 2): Path {
  const path = pathOf(text);
  if (path.parts.slice(1).some((part) => part.isPosition))
    throw notImplemented(code, `${feature} by a position, as in '${text}'`);
  return path;
}

/** Tests one value at the end of a path; undefined stands for a missing field. */
export type Test = (value: Value | undefined) => boolean;

/**
 * True if any value at the path passes. Arrays on the path are expanded one level. An array at the end is tested itself and, if `spread`, by its elements.
 */
export function anyAt(document: Value, path: Path, spread: boolean, test: Test, depth = 0): boolean {
  const part = path.parts[depth]!;
  const value = fieldNamed(document, part.bytes);
  return anyBelow(value, path, spread, test, depth + 1);
}

function anyBelow(value: Value | undefined, path: Path, spread: boolean, test: Test, depth: number): boolean {
  if (depth === path.parts.length) {
    if (value?.type === Type.array && spread) for (const element of elementsOf(value)) if (test(element)) return true;
    return test(value);
  }
  if (value?.type === Type.object) return anyAt(value, path, spread, test, depth);
  if (value?.type !== Type.array) return test(undefined);
  return elementsOf(value).some((element) => element.type === Type.object && anyAt(element, path, spread, test, depth));
}
