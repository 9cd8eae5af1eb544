/** Values of a field per record, combined from the columns that may hold it. */
import type { Values } from '../../../application/logs/record-index.js';
import { type Leaf, leavesAt } from '../../../domain/logs/filter.js';
import type { JsonObject } from '../../../domain/logs/json.js';
import type { DecodedColumn } from './column.js';

type Texts = readonly string[];

const NO_VALUES: Texts = [];
const prependEmpty = (texts: readonly Texts[]) => [NO_VALUES, ...texts];

/** Distinct texts: values of different types may have the same text. */
const textsOf = (leaves: readonly Leaf[]): Texts =>
  leaves.length === 1 ? [String(leaves[0])] : [...new Set(leaves.map(String))];

export const scalarValues = ({ at, entries }: DecodedColumn<Leaf>): Values => ({
  at,
  texts: prependEmpty(entries.map((entry) => [String(entry)])),
});

/** `path` is `prefix`, where the arrays are, or leads into them. */
export const arrayValues = (
  { at, entries }: DecodedColumn<JsonObject[string]>,
  prefix: string,
  path: string,
): Values => ({
  at,
  texts: prependEmpty(entries.map((entry) => textsOf(leavesAt({ [prefix]: entry }, path)))),
});

/** Prefixes of a path at which an array may be, including the path itself. */
export function prefixesOf(path: string): string[] {
  const prefixes = [path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) prefixes.push(path.slice(0, dot));
  return prefixes;
}

export function mergeValues(columns: readonly Values[], count: number): Values {
  const [first] = columns;
  if (!first) return { at: new Uint16Array(count), texts: [NO_VALUES] };
  return columns.slice(1).reduce((left, right) => mergePair(left, right, count), first);
}

function mergePair(left: Values, right: Values, count: number): Values {
  const entriesByPair = new Map<number, number>();
  const texts: Texts[] = [];
  const at = new Uint16Array(count);
  for (let record = 0; record < count; record++) {
    const [a, b] = [left.at[record]!, right.at[record]!];
    const pair = a * right.texts.length + b;
    let entry = entriesByPair.get(pair);
    if (entry === undefined) {
      entry = texts.push([...new Set([...left.texts[a]!, ...right.texts[b]!])]) - 1;
      entriesByPair.set(pair, entry);
    }
    at[record] = entry;
  }
  return { at, texts };
}
