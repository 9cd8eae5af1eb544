/** Read-your-writes: waiting until a read model or the live feed has reached a position. */
export { createCaughtUpBarrier } from './await-caught-up.js';
export {
  awaitConsistent,
  type Consistency,
  maxPosition,
  type PositionedRow,
  withRows,
} from './await-consistent.js';
export { createProjectionProgress, READ_TIMEOUT_MS } from './projection-progress.js';
