/**
 * The sections of a block that takes no more, each sealed for itself, so that only what is asked for is fetched and
 * opened: places, columns, and the records themselves, some at a time.
 */
import type { BlockBuilder, Places } from './block.js';
import { emptyTermFilter, putTerm } from './bloom-filter.js';
import { type Column, encodeColumn, saysTheSame } from './column.js';
import type { TermSet } from './term-set.js';

/** What stands in one row together: who asks for the one asks for others of it. */
export const KINDS = ['columns', 'records'] as const;
export type Kind = (typeof KINDS)[number];

/** Sections of `columns`, besides those of fields. */
export const INSTANTS = 'instants';
export const PLACES = 'places';
const DERIVED = ['level', 'event', 'correlation'] as const;
/** Is there where some paths have no column. */
export const INCOMPLETE = 'incomplete';

/** To be packed and sealed; or the name of the section that says the same; or true: the records alone tell. */
export type Section = string | Uint8Array | { readonly as: string } | true;

export type Sections = { readonly [Each in Kind]: ReadonlyMap<string, Section> };

/** Of records together, about: packed apart, they would take much more room. */
const CHUNK_CHARACTERS = 32 * 1024;

/** Where in `records` the chunks begin; none is a small rest. */
export function chunksOf(lines: readonly string[]): number[] {
  const characters = lines.reduce((sum, { length }) => sum + length, 0);
  const each = characters / Math.max(1, Math.round(characters / CHUNK_CHARACTERS));
  const starts: number[] = [];
  let size = each;
  for (const [index, { length }] of lines.entries()) {
    if (size >= each) {
      starts.push(index);
      size = 0;
    }
    size += length;
  }
  return starts;
}

/** Terms are told apart by some of their bits, so that a query opens only what may hold its own. */
const TERM_SECTIONS = 16;
const nthOf = (term: number): number => Math.imul(term ^ (term >>> 15), 0x2c1b3c6d) >>> 28;
/** The names of all of them. */
export const TERM_SECTION_NAMES: readonly string[] = Array.from({ length: TERM_SECTIONS }, (_, nth) => String(nth));
export const termSection = (term: number): string => String(nthOf(term));

/** What the column of a path is called: the records' own names stand nowhere in clear. */
export interface Names {
  scalars(path: string): string;
  arrays(path: string): string;
}

export function sectionsOf(block: BlockBuilder, starts: readonly number[], names: Names): Sections {
  const { lines } = block;
  const chunk = (nth: number) => lines.slice(starts[nth], starts[nth + 1]).join('\n');
  return {
    columns: columnSections(block, names),
    records: new Map(starts.map((_, nth) => [String(nth), chunk(nth)])),
  };
}

function columnSections(block: BlockBuilder, names: Names): Map<string, Section> {
  const { columns, instants } = block;
  const sections = new Map<string, Section>();
  sections.set(INSTANTS, JSON.stringify(instants.map((instant, index) => instant - (instants[index - 1] ?? 0))));
  sections.set(PLACES, JSON.stringify(block.places() satisfies Places));
  const named = (among: ReadonlyMap<string, Column>, name: (path: string) => string, arrays: boolean) => {
    for (const [path, column] of among) sections.set(name(path), column.dropped || encodeColumn(column, arrays));
  };
  named(columns.scalars, names.scalars, false);
  named(columns.arrays, names.arrays, true);
  for (const each of DERIVED) sections.set(each, derived(columns[each], columns.scalars, names));
  if (columns.incomplete) sections.set(INCOMPLETE, true);
  return sections;
}

/** What records say of themselves by these names is mostly what is understood of them. */
const LIKELY = ['event', 'message', 'msg', 'correlationId', 'requestId', 'traceId', 'level'];

function derived(column: Column, scalars: ReadonlyMap<string, Column>, names: Names): Section {
  if (column.dropped) return true;
  for (const path of LIKELY) {
    const other = scalars.get(path);
    if (other && !other.dropped && saysTheSame(column, other)) return { as: names.scalars(path) };
  }
  return encodeColumn(column, false);
}

/** Filters of the terms of a block, by the names of their sections: there are as many in every block. */
export function termSections(terms: TermSet): ReadonlyMap<string, Uint8Array> {
  const sizes = Array.from({ length: TERM_SECTIONS }, () => 0);
  const all = terms.since(0);
  for (const term of all) sizes[nthOf(term)]!++;
  const filters = sizes.map(emptyTermFilter);
  for (const term of all) putTerm(filters[nthOf(term)]!, term);
  return new Map(filters.map((filter, nth) => [String(nth), filter]));
}
