/** Where small batches are gathered into blocks of about 1,000 records, the same ones in every build. */
import { Binary, type Collection } from 'mongodb';
import type { LogRecord } from '../../domain/logs/record.js';
import { longOf } from '../projection.js';
import { type BlockBuilder, buildBlock, openBlock } from './block.js';
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

export interface Packed {
  readonly row: Omit<BlockRow, 'records'>;
  readonly text: string;
}

/** The block that small batches of an owner go to just now, in one collection. */
export interface Gathering {
  /** Adds a batch; gives what became full by it. */
  add(position: bigint, records: readonly PlacedIn[]): Packed | undefined;
  pack(): Packed | undefined;
}

/** Of the first event in it: one event makes at most one block in a collection. */
export const blockId = (position: bigint): string => position.toString(36).padStart(13, '0');

export function packed(
  id: string,
  at: bigint,
  { subject, producerId, received }: Owner,
  block: BlockBuilder,
  state: Pick<BlockRow, 'gathered' | 'gathering'> = {},
): Packed {
  const { terms, ...summary } = block.summary();
  const row = {
    _id: id,
    _at: longOf(at),
    subject,
    producerId,
    received,
    ...summary,
    terms: new Binary(terms),
  };
  return { row: { ...row, ...state }, text: block.text() };
}

/** Goes on where the rows say the last leader was. */
export async function resumeGathering(
  rows: Collection<BlockRow>,
  owner: Owner,
  openText: (row: BlockRow) => Promise<string | undefined>,
): Promise<Gathering> {
  const [last] = await rows
    .find({ subject: owner.subject, gathered: true })
    .sort({ subject: -1, gathered: -1, _at: -1 })
    .limit(1)
    .toArray();
  const text = last?.gathering && (await openText(last));
  return gather(
    owner,
    last?._at.toBigInt() ?? -1n,
    last && text ? { id: last._id, block: reopened(text, owner.producerId) } : undefined,
  );
}

function reopened(text: string, producerId: string): BlockBuilder {
  const open = openBlock(text);
  const block = buildBlock(producerId);
  for (let index = 0; index < open.count; index++)
    block.add(open.record(index), open.position(index), open.place(index));
  return block;
}

function gather(
  owner: Owner,
  from: bigint,
  first: { readonly id: string; readonly block: BlockBuilder } | undefined,
): Gathering {
  let at = from;
  let current = first;
  const pack = (gathering?: true) =>
    current &&
    packed(current.id, at, owner, current.block, { gathered: true, ...(gathering && { gathering }) });
  return {
    add(position, records) {
      if (position <= at) return undefined;
      current ??= { id: blockId(position), block: buildBlock(owner.producerId) };
      for (const { record, place } of records) current.block.add(record, position, place);
      at = position;
      if (current.block.count < FULL) return undefined;
      const full = pack();
      current = undefined;
      return full;
    },
    pack: () => pack(true),
  };
}
