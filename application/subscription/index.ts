/** Consumes the event log: live feed, process managers, leader election, scheduled jobs, snapshots. */
export {
  type Audience,
  audienceFold,
  type Delivery,
  type EventRouting,
  type Message,
  route,
  type StreamControl,
} from './audience.js';
export { encryptSnapshots, type SealedPart } from './encrypted-snapshots.js';
export { fanOut } from './fan-out.js';
export { type LeaderTask, runAsLeader, withLease } from './leader-election.js';
export type { LiveEvent } from './live-event.js';
export { type Feed, runLiveFeed } from './live-feed.js';
export { type AnyReaction, causedBy, type Reaction, runReaction } from './reaction-runner.js';
export { type Parts, restoreFold, type SnapshotFormat, type Snapshots } from './restore-fold.js';
export { type ResumeWindowStore, readResumeWindow, type WindowStart } from './resume-window.js';
export { RETENTION_EVERY_MS, runPeriodically } from './scheduled-job.js';
export { createSnapshotWriter, type SnapshotWriterOptions } from './snapshot-writer.js';
export {
  advance,
  aggregateAt,
  applyCursorPart,
  type CommandsPart,
  type CursorPart,
  initialCursors,
  type StreamCursors,
  serialize,
} from './stream-cursors.js';
