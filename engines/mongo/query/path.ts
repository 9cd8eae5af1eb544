/** Dotted paths into documents, and the values the matcher sees at their end. */
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
  /** The position it denotes in an array, or -1. */
  readonly position: number;
}

/** The same few paths come again and again; remembering them saves most of the work of reading a statement. */
const KNOWN = new Map<string, Path>();
const MAX_KNOWN = 2000;

export function pathOf(text: string): Path {
  const known = KNOWN.get(text);
  if (known) return known;
  const names = text.split('.');
  const parts = names.map((name) => ({
    name,
    bytes: Buffer.from(name),
    position: /^(0|[1-9]\d{0,8})$/.test(name) ? Number(name) : -1,
  }));
  const path = { text, names, parts };
  if (KNOWN.size >= MAX_KNOWN) KNOWN.clear();
  if (text.length < 200) KNOWN.set(text, path);
  return path;
}

/** Errors: `code` for a path with a position in it, which `what` is not done by. */
export function plainPath(text: string, what: string, code = 2): Path {
  const path = pathOf(text);
  if (path.parts.slice(1).some(({ position }) => position >= 0))
    throw notImplemented(code, `${what} by a position, as in '${text}'`);
  return path;
}

/** Judges one value at a path's end; undefined stands for a missing field. */
export type Test = (value: Value | undefined) => boolean;

/**
 * Whether any value at the path passes. Arrays on the way are looked through, one level each, and at the end also by
 * position; the array at the end is tested itself and, when `spread`, by its elements.
 */
export function anyAt(document: Value, path: Path, spread: boolean, test: Test, depth = 0): boolean {
  const part = path.parts[depth]!;
  const value = fieldNamed(document, part.bytes);
  return below(value, path, spread, test, depth + 1);
}

function below(value: Value | undefined, path: Path, spread: boolean, test: Test, depth: number): boolean {
  if (depth === path.parts.length) {
    if (value?.type === Type.array && spread) for (const element of elementsOf(value)) if (test(element)) return true;
    return test(value);
  }
  if (value?.type === Type.object) return anyAt(value, path, spread, test, depth);
  if (value?.type !== Type.array) return test(undefined);
  const elements = elementsOf(value);
  const { position } = path.parts[depth]!;
  const indexed = position < 0 ? undefined : elements[position];
  // What stands at a position is taken as it is, an array as a whole.
  if (indexed && depth + 1 === path.parts.length && test(indexed)) return true;
  return elements.some((element) => element.type === Type.object && anyAt(element, path, spread, test, depth));
}
