/** Lists of days with names as numbers: a name stands in memory once for a year of days, which are added up without it. */
import { LISTS, type ListName } from './day.js';
import type { SerializedList } from './frequent-values.js';

/** The names of a list, by their numbers, and the other way round. */
export interface Names {
  readonly all: string[];
  readonly numbers: Map<string, number>;
}

/** Of all lists of a site; grows with what is tallied. */
export type SiteNames = { readonly [list in ListName]: Names };

/** A list of a day: numbers of names, and at the same places how often each was met. */
export interface Tally {
  readonly names: Uint32Array;
  readonly counts: Float64Array;
}

export type DayLists = { readonly [list in ListName]?: Tally };

export const emptyNames = (): SiteNames =>
  Object.fromEntries(LISTS.map((list) => [list, { all: [], numbers: new Map() }])) as unknown as SiteNames;

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
