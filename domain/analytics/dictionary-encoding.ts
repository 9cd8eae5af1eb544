/** Dictionary encoding of daily lists: each name is stored once per site, and days are summed by number. */
import { TALLIED_LISTS, type TalliedList } from './day.js';
import type { SerializedList } from './frequent-values.js';

/** Bidirectional dictionary of a list's names and their numbers. */
export interface Names {
  readonly all: string[];
  readonly numbers: Map<string, number>;
}

/** Dictionaries of all lists of a site; grows as lists are encoded. */
export type SiteNames = { readonly [list in TalliedList]: Names };

/** An encoded list of a day: name numbers and, at the same indexes, their counts. */
export interface Tally {
  readonly names: Uint32Array;
  readonly counts: Float64Array;
}

export type DayLists = { readonly [list in TalliedList]?: Tally };

export const emptyNames = (): SiteNames =>
  Object.fromEntries(TALLIED_LISTS.map((list) => [list, { all: [], numbers: new Map() }])) as unknown as SiteNames;

export function encodeTally({ all, numbers }: Names, list: SerializedList): Tally {
  const [names, counts] = [new Uint32Array(list.length), new Float64Array(list.length)];
  for (const [index, [name, count]] of list.entries()) {
    let number = numbers.get(name);
    if (number === undefined) {
      number = all.push(name) - 1;
      numbers.set(name, number);
    }
    names[index] = number;
    counts[index] = count;
  }
  return { names, counts };
}
