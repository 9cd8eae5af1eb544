/** Projection kernel: types, projector, rebuild and verification. */
export { assertBuildExists, createActiveBuilds, createBuildSwitch } from './active-builds.js';
export { type BlockVersion, createBlockCache } from './block-index/block-cache.js';
export { emptyBloomFilter, makeBloomFilter, mayContainAll } from './block-index/bloom-filter.js';
export { createTermSet, type TermSet } from './block-index/term-set.js';
export {
  chunksWithAll,
  decodeTermTable,
  encodeTermSections,
  encodeTermTable,
  type TermTable,
  termSection,
} from './block-index/term-table.js';
export { type Progress, projectorLease } from './build.js';
export {
  type Apply,
  type Build,
  type Builds,
  GONE_INDEX,
  groupsOf,
  longOf,
  newRun,
  type OwnProjection,
  type Pieces,
  type Projection,
  type ProjectorGroup,
  positionGuarded,
  type ReadModel,
  type Row,
  type RowChange,
  type RowUpdate,
  type RowWrite,
  selectionOf,
  writesOf,
} from './projection.js';
export { type Projector, runProjector } from './projector.js';
export { BuildInProgress, createRebuilder, type Rebuilder, rebuildsOf } from './rebuild.js';
