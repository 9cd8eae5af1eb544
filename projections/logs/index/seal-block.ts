/** A block on its way into its rows: packed, sealed and digested under the key of its subject. */
import type { Binary } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { Vault } from '../../../application/ports/index.js';
import { longOf } from '../../kernel/index.js';
import type { BlockBuilder } from './block.js';
import { correlationDigester, sealed, sealPacked } from './compress-and-seal.js';
import { type RegisterRow, sealRegister } from './filter-group.js';
import type { BlockRow, SectionsRow } from './rows.js';
import { namesOf } from './section-names.js';
import { chunksOf, KINDS, type Kind, type Section, type Sections, sectionsOf, termSections } from './sections.js';

export type Owner = Pick<BlockRow, 'subject' | 'producerId' | 'received'>;

export interface Packed {
  readonly row: Omit<BlockRow, 'records' | 'terms' | 'correlations'>;
  /** To be digested. */
  readonly correlations?: readonly string[];
  /** In the row itself, or in rows of its own. */
  readonly content: Whole | { readonly apart: BlockBuilder };
}

export interface Whole {
  /** To be sealed. */
  readonly terms: Uint8Array;
  /** What is to be packed, sealed and put behind the pieces that are. */
  readonly text: string;
  readonly pieces: readonly Binary[];
  /** Told what the text was sealed to. */
  readonly sealed?: (piece: Binary) => void;
}

/** The rows of a block. */
export interface SealedBlock {
  readonly row: BlockRow;
  /** They are there before `row` is, and the register is. */
  readonly sections: readonly SectionsRow[];
  /** Of one that takes no more. */
  readonly register?: RegisterRow;
}

/** All of a block that takes no more; `at`: the last event in it. */
export function packed(id: string, at: bigint, owner: Owner, block: BlockBuilder): Packed {
  const { correlations, ...row } = rowOf(id, at, owner, block);
  return { row: { ...row, chunks: chunksOf(block.lines) }, correlations, content: { apart: block } };
}

/** What a block says of itself, for its row. */
export const rowOf = (id: string, at: bigint, { subject, producerId, received }: Owner, block: BlockBuilder) => ({
  _id: id,
  _at: longOf(at),
  subject,
  producerId,
  received,
  ...block.summary(),
});

/** Undefined when the key is destroyed: nobody could read it. */
export async function sealBlock(vault: Vault, block: Packed): Promise<SealedBlock | undefined> {
  const { row, content, correlations } = block;
  const digest = correlations && (await correlationDigester(vault, row.subject));
  if (correlations && !digest) return undefined;
  const digests = digest && { correlations: [...new Set(correlations.map(digest))] };
  if ('apart' in content) {
    const sections = await sealSections(vault, row, content.apart);
    const register = sections && (await registerOf(vault, row, content.apart));
    return register && { row: { ...row, ...digests }, sections, register: register.row };
  }
  const piece = await sealPacked(vault, row.subject, content.text);
  const terms = await sealed(vault, row.subject, content.terms);
  if (!piece || !terms) return undefined;
  content.sealed?.(piece);
  return { row: { ...row, ...digests, terms, records: [...content.pieces, piece] }, sections: [] };
}

async function sealSections(
  vault: Vault,
  { _id, _at, subject, received, chunks = [] }: Packed['row'],
  block: BlockBuilder,
): Promise<readonly SectionsRow[] | undefined> {
  const names = await namesOf(vault, subject);
  if (!names) return undefined;
  const plain: Sections = sectionsOf(block, chunks, names);
  const rows: SectionsRow[] = [];
  const breathe = createYielder();
  for (const kind of KINDS) {
    const sections: Record<string, Binary | string | true> = {};
    for (const [name, section] of plain[kind]) {
      const one = await sealSection(vault, subject, section);
      if (one === undefined) return undefined;
      sections[name] = one;
      await breathe();
    }
    rows.push({ _id: sectionsId(_id, kind), _at, received, sections });
  }
  return rows;
}

export const sectionsId = (block: string, kind: Kind): string => `${block}.${kind}`;

async function registerOf(vault: Vault, row: Packed['row'], block: BlockBuilder) {
  const { received, gathered: _, ...header } = row;
  return sealRegister(vault, 'one', received, [{ header, filters: termSections(block.terms) }]);
}

async function sealSection(vault: Vault, subject: string, section: Section) {
  if (section === true) return section;
  return typeof section === 'object' && 'as' in section ? section.as : sealPacked(vault, subject, section);
}
