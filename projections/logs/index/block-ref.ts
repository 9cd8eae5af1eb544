/** A block as the index tells of it in clear, and where it is. */
import type { Partition } from './partitions.js';
import type { BlockRow } from './rows.js';

/** What the index tells of a block in clear. */
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

/** A block in its collection. */
export interface BlockRef {
  /** Name of the build. */
  readonly name: string;
  readonly part: Partition;
  readonly header: BlockHeader;
}
