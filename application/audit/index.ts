/** Audit: replay of the event log, past states of things, and the transparency log over it. */
export { type CausedEvent, causationTree } from './causation-tree.js';
export {
  type Checkpoint,
  formatProof,
  openCheckpoint,
  type Proof,
  parseCheckpoint,
  parseProof,
  verifyProof,
} from './checkpoint.js';
export { type AuditEntry, eventEntry, parseAuditEntry, type StoredEvent } from './log-entry.js';
export { consistencyProof, inclusionProof, rootOf, verifyConsistency } from './merkle-tree.js';
export { proveEvent } from './prove-event.js';
export { formatReceipt, type Receipt, verifyReceipt } from './receipt.js';
export { NoSuchStream, type ReplayFilter, replay } from './replay.js';
export { createSigner, parseVerifier, type Signer, type Verifier } from './signed-note.js';
export {
  createStateAt,
  describeKinds,
  type FindStateAt,
  isoTime,
  type StateAt,
  type StateAtPorts,
  type ThingKind,
} from './state-at.js';
export {
  cutTile,
  decodeBundle,
  LEVELS,
  levelWidth,
  MissingTileError,
  nodeReader,
  parseTilePath,
  type ReadTile,
  TILE_WIDTH,
  type TileId,
  tilePath,
  tilesOf,
} from './tiles.js';
export {
  type AuditPorts,
  auditTask,
  catchUpTransparencyLog,
  checkLastEvent,
  LogMismatchError,
  restartTransparencyLog,
  trimTransparencyLog,
} from './transparency-log.js';
export type { Restart, StoredTile, TreeHead, TreeStore } from './tree-store.js';
export {
  compareLog,
  Difference,
  explainMissing,
  type IndexedEntry,
  type LogComparison,
  verifyTree,
} from './verification.js';
export { publishedCheckpoint, type Witness } from './witnesses.js';
