/** Reading: waiting until a read model or the live feed has reached a position; pages of rows. */
export {
  awaitConsistent,
  type Consistency,
  createCaughtUpBarrier,
  type PositionedRow,
  withRows,
} from './await-consistent.js';
export {
  createPositionTracker,
  createProjectionProgress,
  createWritePositions,
  maxPosition,
  type WritePositions,
} from './projection-progress.js';
export { type RowPages, readRowPages } from './row-pages.js';
