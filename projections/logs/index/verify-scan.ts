/** Canonical decrypted form of blocks for comparing builds, which encrypt and split the same content differently. */
import { LRUCache } from 'lru-cache';
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { wholeText } from './block.js';
import { decryptAndInflate, decryptPieces } from './compress-and-seal.js';
import {
  decryptFilters,
  FILTER_GROUPS,
  type FilterGroupRow,
  filterGroupsIn,
  headersIn,
  termsId,
} from './filter-group.js';
import type { BlockHeader, BlockRow, SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import { KINDS, TERM_SECTION_NAMES } from './sections.js';

export interface BlockContents {
  readonly sections: Collection<SectionsRow>;
  readonly filterGroupEntry: (block: string) => Promise<unknown>;
}

export async function readableBlock(
  vault: Vault,
  { sections, filterGroupEntry }: BlockContents,
  row: BlockRow,
): Promise<object> {
  const { subject, producerId } = row;
  if (row.chunks)
    return {
      ...row,
      sections: await readableSections(vault, sections, row),
      registered: await filterGroupEntry(row._id),
    };
  const terms = row.terms && (await vault.openBytes(subject, row.terms.buffer));
  return {
    ...row,
    terms: terms && Buffer.from(terms).toString('base64'),
    records: await wholeText(await decryptPieces(vault, row), producerId),
  };
}

async function readableSections(
  vault: Vault,
  rows: Collection<SectionsRow>,
  { _id, subject }: BlockRow,
): Promise<object> {
  const result: Record<string, unknown> = {};
  for (const kind of KINDS) {
    const row = await rows.findOne({ _id: sectionsId(_id, kind) });
    for (const [name, section] of Object.entries(row?.sections ?? {})) {
      const bytes = section instanceof Binary ? await decryptAndInflate(vault, subject, section) : undefined;
      result[`${kind} ${name}`] = bytes?.toString('base64') ?? section;
    }
  }
  return result;
}

/** Decrypted groups cached; consecutive blocks are mostly in the same one. */
const MAX_CACHED_GROUPS = 4;

/** Implements `BlockContents.filterGroupEntry`: builds may group the same blocks differently. */
export async function createFilterGroupLookup(
  vault: Vault,
  sections: Collection<SectionsRow>,
): Promise<BlockContents['filterGroupEntry']> {
  const rows = filterGroupsIn(sections);
  const groupIdByBlock = new Map<string, string>();
  const options = { projection: { _id: 1, blocks: 1, subject: 1 } };
  for await (const filterGroup of rows.find(FILTER_GROUPS, options))
    for (const { _id } of headersIn(filterGroup)) groupIdByBlock.set(_id, filterGroup._id);
  const cache = new LRUCache<string, ReadonlyMap<string, unknown>>({ max: MAX_CACHED_GROUPS });
  return async (block) => {
    const id = groupIdByBlock.get(block);
    if (id === undefined) return undefined;
    const entries = cache.get(id) ?? decodeGroup(vault, rows, await rows.findOne({ _id: id }));
    const resolved = await entries;
    cache.set(id, resolved);
    return resolved.get(block);
  };
}

async function decodeGroup(
  vault: Vault,
  rows: Collection<FilterGroupRow>,
  filterGroup: FilterGroupRow | null,
): Promise<ReadonlyMap<string, unknown>> {
  const ids = filterGroup ? TERM_SECTION_NAMES.map((name) => termsId(filterGroup._id, name)) : [];
  const termRows = filterGroup?.sections ? [] : await rows.find({ _id: { $in: ids } }).toArray();
  const sections = Object.assign({}, filterGroup?.sections, ...termRows.map(({ sections }) => sections));
  const filters = filterGroup && (await decryptFilters(vault, filterGroup.subject, sections));
  const describe = (header: BlockHeader, nth: number) => ({
    ...header,
    terms: Array.from(filters ?? [], ([name, all]) => [name, Buffer.from(all[nth]!).toString('base64')]),
  });
  return new Map(filterGroup && headersIn(filterGroup).map((header, nth) => [header._id, describe(header, nth)]));
}
