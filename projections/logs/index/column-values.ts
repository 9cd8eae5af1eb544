/** What the records of a block have in a field, out of the columns that may know of it. */
import type { Values } from '../../../application/logs/record-index.js';
import { type Leaf, leavesAt } from '../../../domain/logs/filter.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import type { DecodedColumn } from './column.js';

type Texts = readonly string[];

const NONE: Texts = [];
const withNone = (texts: readonly Texts[]) => [NONE, ...texts];

/** Each once: of different kinds some read alike. */
const textsOf = (leaves: readonly Leaf[]): Texts =>
  leaves.length === 1 ? [String(leaves[0])] : [...new Set(leaves.map(String))];

export const scalarValues = ({ at, entries }: DecodedColumn<Leaf>): Values => ({
  at,
  texts: withNone(entries.map((entry) => [String(entry)])),
});

/** `path` is a way into the arrays, which stand at `prefix`, or just that. */
export const arrayValues = (
  { at, entries }: DecodedColumn<JsonObject[string]>,
  prefix: string,
  path: string,
): Values => ({
  at,
  texts: withNone(entries.map((entry) => textsOf(leavesAt({ [prefix]: entry }, path)))),
});

/** The ways into which a path may lead an array: itself, and all that it goes on from. */
export function prefixesOf(path: string): string[] {
  const prefixes = [path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) prefixes.push(path.slice(0, dot));
  return prefixes;
}

/** All that several columns say of `count` records. */
export function together(all: readonly Values[], count: number): Values {
  const [first] = all;
  if (!first) return { at: new Uint16Array(count), texts: [NONE] };
  return all.slice(1).reduce((one, other) => both(one, other, count), first);
}

function both(one: Values, other: Values, count: number): Values {
  const known = new Map<number, number>();
  const texts: Texts[] = [];
  const at = new Uint16Array(count);
  for (let record = 0; record < count; record++) {
    const [a, b] = [one.at[record]!, other.at[record]!];
    const pair = a * other.texts.length + b;
    let entry = known.get(pair);
    if (entry === undefined) {
      entry = texts.push([...new Set([...one.texts[a]!, ...other.texts[b]!])]) - 1;
      known.set(pair, entry);
    }
    at[record] = entry;
  }
  return { at, texts };
}
