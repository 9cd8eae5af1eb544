/** Read-your-writes: waiting until a read model or the live feed has reached a position. */
export {
  awaitConsistent,
  type Consistency,
  createCaughtUpBarrier,
  type PositionedRow,
  withRows,
} from './await-consistent.js';
export { createPositionTracker, createWritePositions, maxPosition, type WritePositions } from './positions.js';
export { createProjectionProgress } from './projection-progress.js';
