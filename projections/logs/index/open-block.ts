/** Collects small batches into blocks of about 1,000 records, deterministically for every build. */
import type { Binary, Collection } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { LogRecord } from '../../../domain/logs/record.js';
import { encodeTermTable } from '../../kernel/index.js';
import { type BlockBuilder, buildBlock, reopenBlock } from './block.js';
import { type BlockRow, type ExpiryRow, isExpired } from './rows.js';
import { type Owner, type PlainBlock, packBlock, rowOf } from './seal-block.js';

/** Batches of this size get blocks of their own. */
const OWN_BLOCK = { records: 500, characters: 256 * 1024 };
/** Size at which a block is full; one more batch keeps it far below the row limit. */
const FULL = { records: 1000, characters: 1024 * 1024 };

export interface BatchRecord {
  readonly record: LogRecord;
  readonly line: string;
  readonly index: number;
}

/** The block of one part that currently receives a producer-day's small batches. */
export type OpenBlock = ReturnType<typeof createOpenBlock>;

/** Pieces after which a block is rewritten as one; each is compressed and encrypted separately. */
const MAX_PIECES = 24;

/** Part, and position of its first event; one event can fill several blocks of a part. */
const blockId = ({ part }: Owner, position: bigint, nth = 0): string =>
  `${part}/${position.toString(36).padStart(13, '0')}${nth > 0 ? `-${nth}` : ''}`;

const charactersOf = (records: readonly BatchRecord[]) => records.reduce((sum, { line }) => sum + line.length, 0);

export const isSmallBatch = (records: readonly BatchRecord[]): boolean =>
  records.length < OWN_BLOCK.records && charactersOf(records) < OWN_BLOCK.characters;

/** Splits the records of one event into full blocks that fit a row. */
export async function* createFullBlocks(
  position: bigint,
  owner: Owner,
  records: readonly BatchRecord[],
): AsyncGenerator<PlainBlock, undefined> {
  const yieldIfDue = createYielder();
  let nth = 0;
  let block = buildBlock(owner.producerId);
  for (const { record, line, index } of records) {
    if (block.size >= FULL.characters) {
      yield packBlock(blockId(owner, position, nth++), position, owner, block);
      block = buildBlock(owner.producerId);
    }
    block.add(record, line, position, index);
    const pause = yieldIfDue();
    if (pause) await pause;
  }
  yield packBlock(blockId(owner, position, nth), position, owner, block);
}

/** Restores the open block from its row, unless that has expired. */
export async function loadOpenBlock(
  rows: Collection<BlockRow>,
  owner: Owner,
  expiry: ExpiryRow | null,
  decrypt: (row: BlockRow) => Promise<readonly string[]>,
): Promise<OpenBlock> {
  const [latest] = await rows
    .find({ subject: owner.subject, gathered: owner.part })
    .sort({ subject: -1, gathered: -1, _at: -1 })
    .limit(1)
    .toArray();
  const at = latest?._at.toBigInt() ?? -1n;
  if (latest?.kind !== 'open' || isExpired(latest, expiry)) return createOpenBlock(owner, at);
  const block = await reopenBlock(await decrypt(latest), owner.producerId);
  const pieces = [...(latest.records ?? [])];
  return createOpenBlock(owner, at, { id: latest._id, block, pieces, packed: block.count });
}

interface Current {
  readonly id: string;
  readonly block: BlockBuilder;
  pieces: Binary[];
  /** Number of records in the pieces. */
  packed: number;
}

function createOpenBlock(owner: Owner, from: bigint, first?: Current) {
  let at = from;
  let current = first;
  return {
    /** Adds a batch; returns the block if that filled it. */
    add(position: bigint, records: readonly BatchRecord[]): PlainBlock | undefined {
      if (position <= at) return undefined;
      current ??= { id: blockId(owner, position), block: buildBlock(owner.producerId), pieces: [], packed: 0 };
      for (const { record, line, index } of records) current.block.add(record, line, position, index);
      at = position;
      if (current.block.count < FULL.records && current.block.size < FULL.characters) return undefined;
      const full = packBlock(current.id, at, owner, current.block);
      current = undefined;
      return { ...full, row: { ...full.row, gathered: owner.part } };
    },

    /** What changed since the last call. */
    pack(): PlainBlock | undefined {
      if (!current || current.packed === current.block.count) return undefined;
      const { id, block } = current;
      if (current.pieces.length >= MAX_PIECES) Object.assign(current, { pieces: [], packed: 0 });
      const { pieces, packed } = current;
      const { correlations: _, ...row } = rowOf(id, at, owner, block);
      current.packed = block.count;
      return {
        row: { ...row, kind: 'open', gathered: owner.part },
        content: {
          terms: encodeTermTable(block.terms),
          text: block.text(packed),
          pieces: [...pieces],
          onSealed: (piece) => void pieces.push(piece),
        },
      };
    },

    size(): number {
      if (!current) return 0;
      const pieces = current.pieces.reduce((sum, piece) => sum + piece.length(), 0);
      return pieces + current.block.memory;
    },
  };
}
