/** Canonical decrypted form of blocks for comparing builds, which encrypt and split the same content differently. */
import { Binary, type Collection } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { wholeText } from './block.js';
import { decryptAndInflate, decryptPieces } from './compress-and-seal.js';
import type { BlockRow, SectionsRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import { KINDS } from './sections.js';

export async function readableBlock(vault: Vault, sections: Collection<SectionsRow>, row: BlockRow): Promise<object> {
  const { subject, producerId } = row;
  if (row.kind !== 'open') return { ...row, sections: await readableSections(vault, sections, row) };
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
  const ids = new Map(KINDS.map((kind) => [sectionsId(_id, kind), kind]));
  for await (const { _id: id, sections } of rows.find({ _id: { $in: [...ids.keys()] } }))
    for (const [name, section] of Object.entries(sections)) {
      const kind = ids.get(id);
      const open = (from: Binary) =>
        kind === 'terms' ? vault.openBytes(subject, from.buffer) : decryptAndInflate(vault, subject, from);
      const bytes = section instanceof Binary ? await open(section) : undefined;
      result[`${kind} ${name}`] = bytes ? Buffer.from(bytes).toString('base64') : section;
    }
  return result;
}
