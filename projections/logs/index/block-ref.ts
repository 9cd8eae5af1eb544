/** A block as the index tells of it in clear, and where it is. */
import type { Part } from './partitions.js';
import type { BlockRow } from './rows.js';

/** What the index tells of a block in clear. */
export type Header = Pick<
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
export interface Located {
  /** Name of the build. */
  readonly name: string;
  readonly part: Part;
  readonly header: Header;
}
