/** Audit: replay of the event log, and past states of things. */
export { type CausedEvent, causationTree } from './causation-tree.js';
export { NoSuchStream, type ReplayFilter, replay } from './replay.js';
export {
  createStateAt,
  describeKinds,
  type FindStateAt,
  isoTime,
  type StateAt,
  type StateAtPorts,
  type ThingKind,
} from './state-at.js';
