/** Where small batches are gathered into blocks of about 1,000 records, the same ones in every build. */
import { Binary, type Collection } from 'mongodb';
import type { LogRecord } from '../../domain/logs/record.js';
import { longOf } from '../projection.js';
import { type BlockBuilder, buildBlock, reopenBlock } from './block.js';
import type { BlockRow } from './rows.js';

/** A batch of this many records is a block of its own. */
export const OWN_BLOCK = 500;
/** A block with this many takes no more. */
const FULL = 1000;

export interface Owner {
  readonly subject: string;
  readonly producerId: string;
  readonly received: string;
}

export interface PlacedIn {
  readonly record: LogRecord;
  readonly place: number;
}

/** A block on its way into its row. */
export interface Packed {
  readonly row: Omit<BlockRow, 'records'>;
  /** What is to be sealed and put behind the pieces that are. */
  readonly text: string;
  readonly pieces: readonly string[];
  /** Told what the text was sealed to. */
  readonly sealed?: (piece: string) => void;
}

/** The block that small batches of an owner go to just now, in one collection. */
export interface Gathering {
  /** Adds a batch; gives what became full by it. */
  add(position: bigint, records: readonly PlacedIn[]): Packed | undefined;
  /** What is new since it was packed last. */
  pack(): Packed | undefined;
}

/** Past this many pieces they are made one: each is compressed and sealed for itself. */
const MOST_PIECES = 24;

/** Of the first event in it: one event makes at most one block in a collection. */
export const blockId = (position: bigint): string => position.toString(36).padStart(13, '0');

export function packed(id: string, at: bigint, owner: Owner, block: BlockBuilder): Packed {
  return { row: rowOf(id, at, owner, block), text: block.text(), pieces: [] };
}

function rowOf(id: string, at: bigint, { subject, producerId, received }: Owner, block: BlockBuilder) {
  const { terms, ...summary } = block.summary();
  const binary = new Binary(terms);
  return { _id: id, _at: longOf(at), subject, producerId, received, ...summary, terms: binary };
}

/** Goes on where the rows say the last leader was. */
export async function resumeGathering(
  rows: Collection<BlockRow>,
  owner: Owner,
  openText: (sealed: string) => Promise<string | undefined>,
): Promise<Gathering> {
  const [last] = await rows
    .find({ subject: owner.subject, gathered: true })
    .sort({ subject: -1, gathered: -1, _at: -1 })
    .limit(1)
    .toArray();
  const at = last?._at.toBigInt() ?? -1n;
  if (!last?.gathering) return gather(owner, at);
  const texts = await Promise.all(last.records.map(openText));
  const readable = texts.filter((text) => text !== undefined);
  const block = reopenBlock(readable, owner.producerId);
  return gather(owner, at, { id: last._id, block, pieces: [...last.records], packed: block.count });
}

interface Current {
  readonly id: string;
  readonly block: BlockBuilder;
  pieces: string[];
  /** How many records are in the pieces. */
  packed: number;
}

function gather(owner: Owner, from: bigint, first?: Current): Gathering {
  let at = from;
  let current = first;
  return {
    add(position, records) {
      if (position <= at) return undefined;
      current ??= { id: blockId(position), block: buildBlock(owner.producerId), pieces: [], packed: 0 };
      for (const { record, place } of records) current.block.add(record, position, place);
      at = position;
      if (current.block.count < FULL) return undefined;
      const full = packed(current.id, at, owner, current.block);
      current = undefined;
      return { ...full, row: { ...full.row, gathered: true } };
    },

    pack() {
      if (!current || current.packed === current.block.count) return undefined;
      const { id, block } = current;
      if (current.pieces.length >= MOST_PIECES) Object.assign(current, { pieces: [], packed: 0 });
      const { pieces, packed } = current;
      const { correlations: _, ...row } = rowOf(id, at, owner, block);
      current.packed = block.count;
      return {
        row: { ...row, gathered: true, gathering: true },
        text: block.text(packed),
        pieces: [...pieces],
        sealed: (piece) => void pieces.push(piece),
      };
    },
  };
}
