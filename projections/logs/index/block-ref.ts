/** Location and unencrypted header of a block. */
import type { Partition } from './partitions.js';
import type { BlockRow } from './rows.js';

/** Unencrypted properties of a block. */
export type BlockHeader = Pick<
  BlockRow,
  | '_id'
  | '_at'
  | 'subject'
  | 'producerId'
  | 'from'
  | 'to'
  | 'count'
  | 'size'
  | 'levels'
  | 'chunks'
  | 'over'
  | 'gathering'
>;

/** A block in a collection. */
export interface BlockRef {
  /** Build name. */
  readonly name: string;
  readonly part: Partition;
  readonly header: BlockHeader;
}
