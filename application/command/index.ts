/** Handles commands: loads the aggregate, decides, appends with optimistic concurrency and idempotency. */
export {
  type Aggregate,
  type AggregateStore,
  aggregatesOf,
  type CommandRange,
  type LoadedAggregate,
} from './aggregate.js';
export { createAggregateStore, recordCommand } from './aggregate-store.js';
export { type CommandOutcome, type CommandResult, resultOf } from './command-result.js';
export {
  asEvent,
  contentSeed,
  type EventOrigin,
  isEvent,
  newCommandId,
  newEvent,
  nextContext,
  systemContext,
  timestampOf,
  uuidFrom,
} from './event-envelope.js';
export { type Appender, createGroupCommit, type PendingEvent, StreamEndedError } from './group-commit.js';
export { createHandleCommand, type HandleCommand } from './handle-command.js';
export { createIdempotency, type Handled, type Idempotency, keyReused } from './idempotency.js';
export type { KernelPorts } from './kernel-ports.js';
export { reserveQuota } from './quota.js';
export { PAGE_EVENTS, readBackward, readForward } from './read-stream-pages.js';
export { createRequestRecord } from './record-request.js';
