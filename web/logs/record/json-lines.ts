/** A record as lines of formatted JSON, each with the field that it shows. */
import { ExactNumber } from '../api/exact-json.js';
import { isLeaf } from '../explore/fields.js';

export interface JsonLine {
  readonly key: string;
  readonly indent: number;
  /** Name of the member, if it is one. */
  readonly name?: string;
  /** JSON of a scalar, or the brackets. */
  readonly text: string;
  /** Text of a string with several lines, to be shown as they are. */
  readonly block?: string;
  readonly kind: 'string' | 'number' | 'literal' | 'bracket';
  /** Scalars: dotted path and value, as the service compares them. */
  readonly leaf?: { readonly path: string; readonly value: string };
  readonly comma: boolean;
}

interface Place {
  readonly indent: number;
  readonly name?: string;
  readonly path: string;
  readonly comma: boolean;
}

export function jsonLines(value: unknown): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  add(value, { indent: 0, path: '', comma: false }, lines);
  return lines;
}

function add(value: unknown, place: Place, lines: JsonLine[]): void {
  const { indent, path, comma } = place;
  const named = place.name === undefined ? {} : { name: place.name };
  const key = String(lines.length);
  if (isLeaf(value)) {
    const leaf = { path, value: String(value) };
    const block = typeof value === 'string' && value.includes('\n') ? { block: value } : {};
    lines.push({ key, indent, ...named, ...scalar(value), ...block, leaf, comma });
    return;
  }
  const isArray = Array.isArray(value);
  const members: readonly (readonly [string | undefined, unknown])[] = isArray
    ? value.map((each) => [undefined, each] as const)
    : Object.entries(value as object);
  const [open, close] = isArray ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) {
    lines.push({ key, indent, ...named, text: open + close, kind: 'bracket', comma });
    return;
  }
  lines.push({ key, indent, ...named, text: open, kind: 'bracket', comma: false });
  for (const [index, [name, member]] of members.entries()) {
    const memberPath = name === undefined ? path : path === '' ? name : `${path}.${name}`;
    const isLast = index === members.length - 1;
    const at = { indent: indent + 1, path: memberPath, comma: !isLast };
    add(member, name === undefined ? at : { ...at, name }, lines);
  }
  lines.push({ key: String(lines.length), indent, text: close, kind: 'bracket', comma });
}

function scalar(value: string | number | boolean | null | ExactNumber): Pick<JsonLine, 'text' | 'kind'> {
  if (value instanceof ExactNumber) return { text: value.digits, kind: 'number' };
  if (typeof value === 'string') return { text: JSON.stringify(value), kind: 'string' };
  return { text: String(value), kind: typeof value === 'number' ? 'number' : 'literal' };
}
