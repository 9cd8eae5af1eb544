/** A block with all opened and texts whole: two builds seal the same differently, and in other pieces. */
import { LRUCache } from 'lru-cache';
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { wholeText } from './block.js';
import type { BlockHeader } from './block-ref.js';
import { openPacked, openTexts } from './compress-and-seal.js';
import { headersIn, openFilters, REGISTERS, type RegisterRow, registersIn, termsId } from './filter-group.js';
import type { BlockRow, SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import { KINDS, TERM_SECTION_NAMES } from './sections.js';

/** What stands beside the blocks of a part. */
export interface Beside {
  readonly sections: Collection<SectionsRow>;
  /** What a register says of a block. */
  readonly registered: (block: string) => Promise<unknown>;
}

export async function readableBlock(vault: Vault, { sections, registered }: Beside, row: BlockRow): Promise<object> {
  const { subject, producerId } = row;
  if (row.chunks)
    return {
      ...row,
      sections: await readableSections(vault, sections, row),
      registered: await registered(row._id),
    };
  const terms = row.terms && (await vault.openBytes(subject, row.terms.buffer));
  return {
    ...row,
    terms: terms && Buffer.from(terms).toString('base64'),
    records: await wholeText(await openTexts(vault, row), producerId),
  };
}

/** By kind and name: a text, which may be a name, or true. */
async function readableSections(
  vault: Vault,
  rows: Collection<SectionsRow>,
  { _id, subject }: BlockRow,
): Promise<object> {
  const readable: Record<string, unknown> = {};
  for (const kind of KINDS) {
    const row = await rows.findOne({ _id: sectionsId(_id, kind) });
    for (const [name, section] of Object.entries(row?.sections ?? {})) {
      const bytes = section instanceof Binary ? await openPacked(vault, subject, section) : undefined;
      readable[`${kind} ${name}`] = bytes?.toString('base64') ?? section;
    }
  }
  return readable;
}

/** Registers that are open at once: blocks that follow each other are mostly in one. */
const OPEN = 4;

/** For `Beside`: builds have the same blocks in other registers. */
export async function readableRegisters(
  vault: Vault,
  sections: Collection<SectionsRow>,
): Promise<Beside['registered']> {
  const rows = registersIn(sections);
  const where = new Map<string, string>();
  const listed = { projection: { _id: 1, blocks: 1, subject: 1 } };
  for await (const register of rows.find(REGISTERS, listed))
    for (const { _id } of headersIn(register)) where.set(_id, register._id);
  const open = new LRUCache<string, ReadonlyMap<string, unknown>>({ max: OPEN });
  return async (block) => {
    const id = where.get(block);
    if (id === undefined) return undefined;
    const opened = open.get(id) ?? readable(vault, rows, await rows.findOne({ _id: id }));
    const known = await opened;
    open.set(id, known);
    return known.get(block);
  };
}

async function readable(
  vault: Vault,
  rows: Collection<RegisterRow>,
  register: RegisterRow | null,
): Promise<ReadonlyMap<string, unknown>> {
  const ids = register ? TERM_SECTION_NAMES.map((name) => termsId(register._id, name)) : [];
  const apart = register?.sections ? [] : await rows.find({ _id: { $in: ids } }).toArray();
  const sealed = Object.assign({}, register?.sections, ...apart.map(({ sections }) => sections));
  const filters = register && (await openFilters(vault, register.subject, sealed));
  const says = (header: BlockHeader, nth: number) => ({
    ...header,
    terms: Array.from(filters ?? [], ([name, all]) => [name, Buffer.from(all[nth]!).toString('base64')]),
  });
  return new Map(register && headersIn(register).map((header, nth) => [header._id, says(header, nth)]));
}
