/** Where small batches are gathered into blocks of about 1,000 records, the same ones in every build. */
import type { Binary, Collection } from 'mongodb';
import type { LogRecord } from '../../../domain/logs/record.js';
import { type BlockBuilder, buildBlock, reopenBlock } from './block.js';
import type { BlockRow } from './rows.js';
import { type Owner, type Packed, packed, rowOf } from './seal-block.js';

/** A batch of so many records, or of so many characters, is not gathered: it makes blocks of its own. */
const OWN = { records: 500, characters: 256 * 1024 };
/** A block with so much takes no more: with what one more batch adds it stays far under what a row may be. */
const FULL = { records: 1000, characters: 1024 * 1024 };

export interface PlacedIn {
  readonly record: LogRecord;
  /** Its own JSON text. */
  readonly line: string;
  readonly place: number;
}

/** The block that small batches of an owner go to just now, in one collection. */
export interface Gathering {
  /** Adds a batch; gives what became full by it. */
  add(position: bigint, records: readonly PlacedIn[]): Packed | undefined;
  /** What is new since it was packed last. */
  pack(): Packed | undefined;
  /** What it takes in memory, about, in bytes. */
  size(): number;
}

/** Past this many pieces they are made one: each is packed and sealed for itself. */
const MOST_PIECES = 24;

/** Of the first event in it; one event can make several blocks in a collection. */
const blockId = (position: bigint, nth = 0): string =>
  position.toString(36).padStart(13, '0') + (nth > 0 ? `-${nth}` : '');

const charactersOf = (records: readonly PlacedIn[]) => records.reduce((sum, { line }) => sum + line.length, 0);

export const isGathered = (records: readonly PlacedIn[]): boolean =>
  records.length < OWN.records && charactersOf(records) < OWN.characters;

/** The blocks that the records of one event make for themselves, none too large for a row. */
export function* ownBlocks(position: bigint, owner: Owner, records: readonly PlacedIn[]): Generator<Packed, undefined> {
  let nth = 0;
  let block = buildBlock(owner.producerId);
  for (const { record, line, place } of records) {
    if (block.size >= FULL.characters) {
      yield packed(blockId(position, nth++), position, owner, block);
      block = buildBlock(owner.producerId);
    }
    block.add(record, line, position, place);
  }
  yield packed(blockId(position, nth), position, owner, block);
}

/** Goes on where the rows say the last leader was. */
export async function resumeGathering(
  rows: Collection<BlockRow>,
  owner: Owner,
  open: (row: BlockRow) => Promise<readonly string[]>,
): Promise<Gathering> {
  const [last] = await rows
    .find({ subject: owner.subject, gathered: true })
    .sort({ subject: -1, gathered: -1, _at: -1 })
    .limit(1)
    .toArray();
  const at = last?._at.toBigInt() ?? -1n;
  if (!last?.gathering) return gather(owner, at);
  const block = await reopenBlock(await open(last), owner.producerId);
  const pieces = [...(last.records ?? [])];
  return gather(owner, at, { id: last._id, block, pieces, packed: block.count });
}

interface Current {
  readonly id: string;
  readonly block: BlockBuilder;
  pieces: Binary[];
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
      for (const { record, line, place } of records) current.block.add(record, line, position, place);
      at = position;
      if (current.block.count < FULL.records && current.block.size < FULL.characters) return undefined;
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
        content: {
          terms: block.filter(true),
          text: block.text(packed),
          pieces: [...pieces],
          sealed: (piece) => void pieces.push(piece),
        },
      };
    },

    size() {
      if (!current) return 0;
      const pieces = current.pieces.reduce((sum, piece) => sum + piece.length(), 0);
      return pieces + current.block.memory;
    },
  };
}

/** The block of a row, opened, which still gathers, without the records before an instant. */
export async function later(row: BlockRow, texts: readonly string[], from: number): Promise<Packed> {
  const block = await reopenBlock(texts, row.producerId, from);
  const { correlations: _, ...rest } = rowOf(row._id, row._at.toBigInt(), row, block);
  const content = { terms: block.filter(), text: block.text(), pieces: [] };
  return { row: { ...rest, gathered: true, gathering: true }, content };
}
