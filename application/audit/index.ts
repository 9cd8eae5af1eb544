/** Audit: replay of the event log. */
export { NoSuchStream, type ReplayFilter, replay } from './replay.js';
