/** Runs reactions (process managers): side effects of events, at least once each, never repeated by a rebuild. */

import { type DomainEvent, type EventHandlers, handlerFor } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import {
  type Checkpoints,
  type CommandContext,
  type Derivation,
  type Lease,
  type Position,
  type RecordedEvent,
  UnavailableError,
} from '../ports/index.js';
import { runAsLeader } from './leader-election.js';

export interface Reaction<Event extends DomainEvent> {
  /** `<service>.<what>`, for example `rooms.erase`. */
  readonly name: string;
  /** Handlers by event type. Must be idempotent; a failure is retried until it succeeds. */
  readonly on: EventHandlers<RecordedEvent<Event>, Promise<void>>;
  /** Handles events concurrently, so that a slow one does not delay the others. */
  readonly concurrent?: true;
  /**
   * Handlers do not depend on earlier events: a failing event, for example of a damaged stream, is retried while later
   * ones are handled. `UnavailableError` still holds up all events.
   */
  readonly retryInBackground?: true;
}

export type AnyReaction = Reaction<DomainEvent>;

/**
 * Returns the context of a command caused by an event: the same command id however often the event is handled.
 *
 * @param which Tells commands apart if one event causes several.
 */
export const causedBy = (
  derivation: Derivation,
  actor: string,
  { id, metadata }: Pick<RecordedEvent, 'id' | 'metadata'>,
  ...which: readonly string[]
): CommandContext => ({
  commandId: derivation.id(actor, id, ...which),
  actor,
  causationId: id,
  correlationId: metadata.$correlationId ?? id,
  ...(metadata.traceparent !== undefined && { traceparent: metadata.traceparent }),
});

/** Returns the context to complete the command that wrote an event: under its own id, so that it is completed once. */
export const completing = ({ id, metadata }: Pick<RecordedEvent, 'id' | 'metadata'>): CommandContext => ({
  commandId: metadata.commandId ?? id,
  actor: metadata.actor ?? '',
  correlationId: metadata.$correlationId ?? id,
  ...(metadata.$causationId !== undefined && { causationId: metadata.$causationId }),
  ...(metadata.fingerprint !== undefined && { fingerprint: metadata.fingerprint }),
  ...(metadata.traceparent !== undefined && { traceparent: metadata.traceparent }),
});

export interface ReactionOptions extends Pick<KernelPorts, 'follow' | 'leases' | 'head' | 'logger'> {
  readonly service: string;
  readonly reaction: AnyReaction;
  readonly checkpoints: Checkpoints;
  /**
   * End of the log before this node served requests. A new reaction starts here: not with all of history, and early
   * enough for the events of the first caller.
   */
  readonly begun: Position;
  readonly reacted: (reaction: string) => void;
  readonly signal: AbortSignal;
}

const CHECKPOINT_EVERY_MS = 1000;
const STANDBY_MS = 500;
const BACKOFF_MS = { first: 100, max: 30_000 };
/** Events retried in the background; one more failure holds up all events. */
const MAX_RETRYING = 100;
const MAX_CONCURRENT = 500;

/** Runs a reaction while this node holds its lease; settles once the signal has stopped it. */
export function runReaction(options: ReactionOptions): Promise<void> {
  const { reaction, leases, logger, signal } = options;
  return runAsLeader({
    leases,
    lease: `reaction:${reaction.name}`,
    task: (lease, stop) => runUnderLease(options, lease, stop),
    standbyMs: STANDBY_MS,
    onFailure: (err) => logger.error({ err, reaction: reaction.name }, 'reaction stopped; restarting'),
    signal,
  });
}

async function runUnderLease(options: ReactionOptions, lease: Lease, leaseEnd: AbortSignal): Promise<void> {
  const { service, reaction, follow, checkpoints, head, begun } = options;
  const name = `reaction:${reaction.name}`;
  let from = await checkpoints.read(name);
  const end = await head();
  // A checkpoint ahead of the log predates a restored backup: new events would be taken for handled.
  if (from === undefined || from > end) {
    from = from === undefined ? begun : end;
    await checkpoints.advance({ [name]: from }, lease);
  }
  const types = Object.keys(reaction.on);
  // Stops background retries when this run ends; otherwise they would hold the lease while nothing else is handled.
  const runEnd = new AbortController();
  const stop = AbortSignal.any([leaseEnd, runEnd.signal]);
  let [savedAt, savedPosition, hasReacted] = [performance.now(), from, false];
  let lastSave = Promise.resolve(true);
  /** Saves the checkpoint if due; false when another node has taken over. */
  const save = () => {
    lastSave = lastSave.then(async (isLeader) => {
      const position = processor.lowWatermark();
      const isDue = hasReacted || performance.now() - savedAt >= CHECKPOINT_EVERY_MS;
      if (!isLeader || !isDue || position === savedPosition) return isLeader;
      [savedAt, savedPosition, hasReacted] = [performance.now(), position, false];
      return checkpoints.advance({ [name]: position }, lease);
    });
    return lastSave;
  };
  const processor = createConcurrentProcessor(from, reaction.concurrent ? MAX_CONCURRENT : MAX_RETRYING, () => {
    // A failure is reported by the next save.
    save().catch(() => {});
  });
  const handle = async (event: RecordedEvent, release: () => void) => {
    if (await react(options, event, lease, stop, release)) hasReacted = true;
  };
  try {
    for await (const { events, position } of follow({ service, types, from, signal: stop })) {
      for (const event of events) await processor.start(event.position, (release) => handle(event, release));
      if (position !== undefined) processor.advanceTo(position);
      if (!(await save())) return;
    }
  } finally {
    runEnd.abort();
    await processor.drain();
    await lastSave;
  }
}

/** Handles one event, retrying until it succeeds; false if it has no handler. `release` lets later events proceed. */
async function react(
  options: ReactionOptions,
  event: RecordedEvent,
  lease: Lease,
  stop: AbortSignal,
  release: () => void,
): Promise<boolean> {
  const { reaction, reacted, logger } = options;
  const handler = handlerFor(reaction.on, event);
  if (!handler) return false;
  if (reaction.concurrent) release();
  for (let backoff = BACKOFF_MS.first; ; backoff = Math.min(backoff * 2, BACKOFF_MS.max)) {
    stop.throwIfAborted();
    lease.assertHeld();
    try {
      await handler(event);
      reacted(reaction.name);
      return true;
    } catch (error) {
      stop.throwIfAborted();
      logger.error(
        { err: error, reaction: reaction.name, event: event.id, retryMs: backoff },
        'reaction failed; retrying',
      );
      if (reaction.retryInBackground && !(error instanceof UnavailableError)) release();
      await sleep(backoff, stop);
    }
  }
}

/**
 * Tracks the position up to which all events are processed, while their jobs finish in any order.
 *
 * @param maxReleased Jobs that may run after having called `release`.
 * @param onReleasedDone Called when such a job has succeeded.
 */
export function createConcurrentProcessor(from: Position, maxReleased: number, onReleasedDone: () => void) {
  let latest = from;
  /** Jobs that run or have failed, in log order, each with the position before it. */
  const jobs = new Map<Promise<void>, Position>();
  let failure: { readonly error: unknown } | undefined;
  let notifyFree = () => {};

  function throwFailure() {
    if (failure) throw failure.error;
  }

  return {
    /**
     * Starts the job for the event at a position later than all before. Resolves when the job is done, or has called
     * `release` and there is room for another; rejects with the failure of any job.
     */
    async start(position: Position, job: (release: () => void) => Promise<void>): Promise<void> {
      throwFailure();
      let isReleased = false;
      let proceed = () => {};
      const released = new Promise<void>((resolve) => {
        proceed = resolve;
      });
      const release = () => {
        isReleased = true;
        proceed();
      };
      const running: Promise<void> = job(release)
        .then(
          () => {
            jobs.delete(running);
            if (isReleased) onReleasedDone();
          },
          (error: unknown) => {
            failure ??= { error };
          },
        )
        .then(() => {
          proceed();
          notifyFree();
        });
      jobs.set(running, latest);
      latest = position;
      await released;
      if (!failure && jobs.size >= maxReleased)
        await new Promise<void>((resolve) => {
          notifyFree = resolve;
        });
      throwFailure();
    },
    /** Reports that there are no more events up to here. */
    advanceTo(position: Position) {
      latest = position;
    },
    lowWatermark: (): Position => jobs.values().next().value ?? latest,
    /** Resolves when all started jobs have ended; rejects with the failure of any of them. */
    async drain() {
      await Promise.all(jobs.keys());
      throwFailure();
    },
  };
}
