/** Embedded servers for one machine that speak the protocols of EventStoreDB and MongoDB. */
export { openToCopy, type StoreToCopy } from './supervisor/copy-store.js';
export { DirectoryInUse, isLocked, lockDirectory } from './supervisor/directory-lock.js';
export { keepTicksQuick } from './supervisor/next-tick-tuning.js';
export {
  createPrivately,
  flushDirectory,
  flushFile,
  privateDirectory,
  SharedDirectory,
  writePrivately,
} from './supervisor/private-files.js';
export { findRuntime, type Runtime, readRuntime } from './supervisor/runtime-file.js';
export { areStoresMarked, mark, StoreDamaged } from './supervisor/store-check.js';
export { EngineFailed, type Engines, startEngines } from './supervisor/supervisor.js';
