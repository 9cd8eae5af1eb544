/** Converts a block into rows: compressed, encrypted and digested under its subject's key. */
import type { Binary } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { Vault } from '../../../application/ports/index.js';
import { dayName } from '../../../domain/logs/timestamp.js';
import { longOf } from '../../kernel/index.js';
import type { BlockBuilder } from './block.js';
import { compressAndSeal, correlationDigester, sealBytes } from './compress-and-seal.js';
import { type BlockRow, kindOf, type SectionsRow } from './rows.js';
import { createSectionNames, encodeSections, KINDS, type Kind, type Section, type Sections } from './sections.js';

export interface Owner extends Pick<BlockRow, 'subject' | 'producerId' | 'received' | 'audit'> {
  readonly part: string;
}

export interface PlainBlock {
  readonly row: Omit<BlockRow, 'records' | 'terms' | 'correlations' | 'correlationEnds'>;
  /** Ids of each chunk. */
  readonly correlations?: readonly (readonly string[])[];
  /** Stored in the block's row while it is open, else in sections. */
  readonly content: OpenContent | { readonly builder: BlockBuilder };
}

export interface OpenContent {
  readonly terms: Uint8Array;
  /** New text, to be appended to the existing pieces. */
  readonly text: string;
  readonly pieces: readonly Binary[];
  readonly onSealed?: (piece: Binary) => void;
}

export interface SealedBlock {
  readonly row: BlockRow;
  /** Of a full block; must be written before `row`. */
  readonly sections: readonly SectionsRow[];
}

/** A full block; `at` is the position of its last event. */
export function packBlock(id: string, at: bigint, owner: Owner, block: BlockBuilder): PlainBlock {
  const { correlations, ...row } = rowOf(id, at, owner, block);
  return { row: { ...row, kind: kindOf(owner.part) }, correlations, content: { builder: block } };
}

export function rowOf(id: string, at: bigint, { part: _, ...owner }: Owner, block: BlockBuilder) {
  const summary = block.summary();
  const [due = ''] = [dayName(summary.to), owner.received].sort();
  return { _id: id, _at: longOf(at), ...owner, due, ...summary };
}

export async function sealBlock(vault: Vault, block: PlainBlock): Promise<SealedBlock | undefined> {
  const { row, content, correlations } = block;
  const digest = correlations && (await correlationDigester(vault, row.subject, row._id.split('/', 1)[0]!));
  if (correlations && !digest) return undefined;
  const digests = digest && digestsOf(correlations, digest);
  if ('builder' in content) {
    const sections = await sealSections(vault, row, content.builder);
    return sections && { row: { ...row, ...digests }, sections };
  }
  const piece = await compressAndSeal(vault, row.subject, content.text);
  const terms = await sealBytes(vault, row.subject, content.terms);
  if (!piece || !terms) return undefined;
  content.onSealed?.(piece);
  return { row: { ...row, ...digests, terms, records: [...content.pieces, piece] }, sections: [] };
}

function digestsOf(correlations: readonly (readonly string[])[], digest: (id: string) => number) {
  let end = 0;
  return {
    correlations: correlations.flatMap((ids) => ids.map(digest)),
    correlationEnds: correlations.map(({ length }) => (end += length)),
  };
}

async function sealSections(
  vault: Vault,
  { _id, _at, subject }: PlainBlock['row'],
  block: BlockBuilder,
): Promise<readonly SectionsRow[] | undefined> {
  const names = await createSectionNames(vault, subject);
  if (!names) return undefined;
  const plain: Sections = encodeSections(block, names);
  const rows: SectionsRow[] = [];
  const yieldIfDue = createYielder();
  for (const kind of KINDS) {
    const sections: Record<string, Binary | true> = {};
    for (const [name, section] of plain[kind]) {
      const sealedSection = await sealSection(vault, subject, kind, section);
      if (sealedSection === undefined) return undefined;
      sections[name] = sealedSection;
      await yieldIfDue();
    }
    rows.push({ _id: sectionsId(_id, kind), _at, sections });
  }
  return rows;
}

export const sectionsId = (block: string, kind: Kind): string => `${block}.${kind}`;

async function sealSection(vault: Vault, subject: string, kind: Kind, section: Section) {
  if (section === true) return section;
  // Tables of hashes do not compress.
  return kind === 'terms' ? sealBytes(vault, subject, Buffer.from(section)) : compressAndSeal(vault, subject, section);
}
