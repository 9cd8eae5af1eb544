/** A block on its way into its row: packed, sealed and digested under the key of its subject. */
import type { Binary } from 'mongodb';
import type { Vault } from '../../application/ports.js';
import { longOf } from '../projection.js';
import type { BlockBuilder } from './block.js';
import type { BlockRow } from './rows.js';
import { correlationDigester, sealed, sealPacked } from './sealing.js';

export type Owner = Pick<BlockRow, 'subject' | 'producerId' | 'received'>;

export interface Packed {
  readonly row: Omit<BlockRow, 'records' | 'terms' | 'correlations'>;
  /** To be sealed. */
  readonly terms: Uint8Array;
  /** To be digested. */
  readonly correlations?: readonly string[];
  /** What is to be packed, sealed and put behind the pieces that are. */
  readonly text: string;
  readonly pieces: readonly Binary[];
  /** Told what the text was sealed to. */
  readonly sealed?: (piece: Binary) => void;
}

/** All of a block that takes no more; `at`: the last event in it. */
export function packed(id: string, at: bigint, owner: Owner, block: BlockBuilder): Packed {
  const { terms, correlations, ...row } = rowOf(id, at, owner, block);
  return { row, terms, correlations, text: block.text(), pieces: [] };
}

/** What a block says of itself, for its row; `growing` while it takes more. */
export const rowOf = (
  id: string,
  at: bigint,
  { subject, producerId, received }: Owner,
  block: BlockBuilder,
  growing = false,
) => ({
  _id: id,
  _at: longOf(at),
  subject,
  producerId,
  received,
  ...block.summary(growing),
});

/** Undefined when the key is destroyed: nobody could read it. */
export async function sealBlock(vault: Vault, block: Packed): Promise<BlockRow | undefined> {
  const { subject } = block.row;
  const piece = await sealPacked(vault, subject, block.text);
  const terms = await sealed(vault, subject, block.terms);
  const digest = block.correlations && (await correlationDigester(vault, subject));
  if (!piece || !terms || (block.correlations && !digest)) return undefined;
  block.sealed?.(piece);
  const correlations = digest && [...new Set(block.correlations?.map(digest))];
  return { ...block.row, ...(correlations && { correlations }), terms, records: [...block.pieces, piece] };
}
