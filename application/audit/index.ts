/** Replaying history. */
export { NoSuchStream, type ReplayFilter, replay } from './replay.js';
