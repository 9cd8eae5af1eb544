/** Handles commands: loads the aggregate, decides, appends with optimistic concurrency and idempotency. */
export {
  type Aggregate,
  type AggregateStore,
  createAggregateStore,
  type LoadedAggregate,
} from './aggregate-store.js';
export { newCommandId, systemContext, timestampOf } from './command-id.js';
export { contentSeed, type EventOrigin, newEvent } from './event-envelope.js';
export { asEvent, isEvent } from './event-guards.js';
export { type Appender, createGroupCommit, type PendingEvent, StreamEndedError } from './group-commit.js';
export { createHandleCommand, type HandleCommand } from './handle-command.js';
export { createIdempotency, type Handled, type Idempotency, keyReused } from './idempotency.js';
export { type CommandRange, recordCommand } from './idempotency-index.js';
export { reserveQuota } from './quota.js';
export { PAGE_EVENTS, readBackward, readForward } from './read-stream-pages.js';
