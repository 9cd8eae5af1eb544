/** A block with all opened and texts whole: two builds seal the same differently, and in other pieces. */
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../application/ports.js';
import { wholeText } from './block.js';
import { openSection } from './fetching.js';
import { sectionsId } from './packing.js';
import type { BlockRow, SectionsRow } from './rows.js';
import { openTexts } from './sealing.js';
import { KINDS } from './sections.js';

export async function readableBlock(
  vault: Vault,
  sections: Collection<SectionsRow>,
  row: BlockRow,
): Promise<object> {
  const { subject, producerId } = row;
  if (row.chunks) return { ...row, sections: await readableSections(vault, sections, row) };
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
      const bytes = section instanceof Binary ? await openSection(vault, subject, kind, section) : undefined;
      readable[`${kind} ${name}`] = bytes?.toString('base64') ?? section;
    }
  }
  return readable;
}
