/** Audit: replay of the event log. */
export { type CausedEvent, causationTree } from './causation-tree.js';
export { NoSuchStream, type ReplayFilter, replay } from './replay.js';
