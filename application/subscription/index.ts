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
export { type LeaderTask, runAsLeader, withLease } from './leader-election.js';
export {
  type EventHandler,
  type Feed,
  type LiveEvent,
  type ResumeWindowStore,
  readResumeWindow,
  runLiveFeed,
  type SubscriptionTable,
  type WindowStart,
} from './live-feed.js';
export { type AnyReaction, causedBy, type Reaction, runReaction } from './reaction-runner.js';
export { type Parts, restoreFold, type SnapshotFormat, type Snapshots } from './restore-fold.js';
export { collectFailures, RETENTION_EVERY_MS, runPeriodically } from './scheduled-job.js';
export { runSnapshotWriter } from './snapshot-writer.js';
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
