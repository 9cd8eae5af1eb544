/** Embedded servers for one machine that speak the protocols of EventStoreDB and MongoDB. */
export { type CopySource, openClosedSource, openCopySource } from './supervisor/copy-store.js';
export { DirectoryInUse, isLocked, lockDirectory } from './supervisor/directory-lock.js';
export { tuneNextTick } from './supervisor/next-tick-tuning.js';
export {
  createPrivateFile,
  ensurePrivateDirectory,
  flushDirectory,
  flushFile,
  SharedDirectory,
  writePrivateFile,
} from './supervisor/private-files.js';
export { findRuntime, type Runtime, readRuntime } from './supervisor/runtime-file.js';
export { areStoresMarked, StoreDamaged, writeStoreMark } from './supervisor/store-check.js';
export { EngineFailed, type Engines, startEngines } from './supervisor/supervisor.js';
