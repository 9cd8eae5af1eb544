/** Consumes the event log: live feed, process managers, leader election, scheduled jobs, snapshots. */
export {
  type Audience,
  audienceFold,
  type Delivery,
  type EventRouting,
  handleByType,
  type Message,
  routeEvent,
  type StreamControl,
} from './audience.js';
export { encryptSnapshots, type SealedPart } from './encrypted-snapshots.js';
export { type Parts, restoreFold, runSnapshotWriter, type SnapshotFormat, type Snapshots } from './fold-snapshots.js';
export {
  collectFailures,
  type LeaderTask,
  RETENTION_EVERY_MS,
  runAsLeader,
  runPeriodically,
  withLease,
} from './leader-election.js';
export {
  type EventHandler,
  type EventPreparation,
  type Feed,
  type LiveEvent,
  type ResumeWindowStore,
  readResumeWindow,
  runLiveFeed,
  type SubscriptionTable,
  type WindowStart,
} from './live-feed.js';
export { type AnyReaction, causedBy, completing, type Reaction, runReaction } from './reaction-runner.js';
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
export { untilCaughtUp } from './until-caught-up.js';
