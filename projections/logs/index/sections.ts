/**
 * Sections of a full block: positions, columns, and chunks of records. Each is encrypted separately, so that queries
 * load and decrypt only what they need.
 */
import type { Vault } from '../../../application/ports/index.js';
import { encodeTermSections } from '../../kernel/index.js';
import type { BlockBuilder } from './block.js';
import { encodeColumn } from './column.js';

/** Each kind is one row, because its sections are needed together. */
export const KINDS = ['columns', 'records', 'terms'] as const;
export type Kind = (typeof KINDS)[number];

export const INSTANTS = 'instants';
export const PLACES = 'places';
const DERIVED = ['level', 'event', 'correlation'] as const;
/** Present if some paths have no column. */
export const INCOMPLETE = 'incomplete';

/** Plain bytes, or true if only the records have the values. */
export type Section = string | Uint8Array | true;

export type Sections = { readonly [Each in Kind]: ReadonlyMap<string, Section> };

/** Maps paths to section names, because property names of records must not be stored unencrypted. */
export interface Names {
  scalars(path: string): string;
  arrays(path: string): string;
}

const DIGEST_DIGITS = 18;

/** Creates digests of paths under the subject's key; undefined when the key is destroyed. */
export async function createSectionNames(vault: Vault, subject: string): Promise<Names | undefined> {
  const digest = await vault.digester(subject, 'logs.column');
  if (!digest) return undefined;
  const name = (kind: string, path: string) => kind + digest(kind + path).slice(0, DIGEST_DIGITS);
  return { scalars: (path) => name('s', path), arrays: (path) => name('a', path) };
}

export function encodeSections(block: BlockBuilder, names: Names): Sections {
  const { lines, chunks } = block;
  const chunk = (nth: number) => lines.slice(chunks[nth], chunks[nth + 1]).join('\n');
  return {
    columns: columnSections(block, names),
    records: new Map(chunks.map((_, nth) => [String(nth), chunk(nth)])),
    terms: encodeTermSections(block.terms),
  };
}

function columnSections(block: BlockBuilder, names: Names): Map<string, Section> {
  const { columns, instants } = block;
  const sections = new Map<string, Section>();
  sections.set(INSTANTS, JSON.stringify(instants.map((instant, index) => instant - (instants[index - 1] ?? 0))));
  sections.set(PLACES, JSON.stringify(block.places()));
  for (const each of DERIVED) sections.set(each, columns[each].dropped || encodeColumn(columns[each], false));
  for (const [path, column] of columns.scalars)
    sections.set(names.scalars(path), column.dropped || encodeColumn(column, false));
  for (const [path, column] of columns.arrays)
    sections.set(names.arrays(path), column.dropped || encodeColumn(column, true));
  if (columns.incomplete) sections.set(INCOMPLETE, true);
  return sections;
}
