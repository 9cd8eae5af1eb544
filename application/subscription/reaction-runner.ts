/** The loop for side effects: what must follow an event in the world, at least once, never by a rebuild. */
import { type DomainEvent, type EventHandlers, handlerFor } from '../../domain/shared/index.js';
import { sleep } from '../concurrency/index.js';
import {
  type Checkpoints,
  type CommandContext,
  type Derivation,
  type Lease,
  type Leases,
  type Logger,
  type Position,
  type RecordedEvent,
  type Subscribe,
  UnavailableError,
} from '../ports/index.js';
import { runAsLeader } from './leader-election.js';
import { createConcurrentProcessor } from './ordered-checkpoint.js';

/** `Event`: those that it follows. */
export interface Reaction<Event extends DomainEvent> {
  /** `<service>.<what>`, for example `rooms.erase`. */
  readonly name: string;
  /** Must do no harm when done again; a rejection is tried again until it succeeds. */
  readonly on: EventHandlers<RecordedEvent<Event>, Promise<void>>;
  /** Events are worked on side by side: one that takes long keeps none of the others from being done. */
  readonly concurrent?: true;
  /**
   * What it does for one event hangs on no other: one that can't be done, of a damaged stream for example, is tried again
   * beside those that come after it. An `Unavailable` store keeps them all waiting.
   */
  readonly retryInBackground?: true;
}

/** As it is run: by whoever knows no event. */
export type AnyReaction = Reaction<DomainEvent>;

/** By what follows an event: the same command however often that comes. `which`: where several follow one. */
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
});

export interface ReactionOptions {
  readonly service: string;
  readonly reaction: AnyReaction;
  readonly follow: Subscribe;
  readonly checkpoints: Checkpoints;
  readonly leases: Leases;
  /** The end of the log. */
  readonly head: () => Promise<Position>;
  /**
   * Where the log ended before this node served anybody: a reaction that never ran begins there, not at the beginning
   * of history, and not so late that it misses what the first caller does.
   */
  readonly begun: Position;
  readonly reacted: (reaction: string) => void;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

const CHECKPOINT_EVERY_MS = 1000;
const STANDBY_MS = 500;
const BACKOFF_MS = { first: 100, most: 30_000 };
/** Events that are tried again beside others; the next one that fails holds all up. */
const MOST_BESIDE = 100;
/** Events that are worked on side by side; one more waits for one of these. */
const MOST_TOGETHER = 500;

/** Runs while this node holds the reaction's lease; settles when the signal has stopped it. */
export function runReaction(options: ReactionOptions): Promise<void> {
  const { reaction, leases, logger, signal } = options;
  return runAsLeader({
    leases,
    lease: `reaction:${reaction.name}`,
    lead: (lease, stop) => lead(options, lease, stop),
    standbyMs: STANDBY_MS,
    onFailure: (err) => logger.error({ err, reaction: reaction.name }, 'reaction stopped, starting again'),
    signal,
  });
}

async function lead(options: ReactionOptions, lease: Lease, ended: AbortSignal): Promise<void> {
  const { service, reaction, follow, checkpoints, head, begun } = options;
  const name = `reaction:${reaction.name}`;
  let from = await checkpoints.read(name);
  const last = await head();
  // One ahead of the log is of before a backup was restored: what comes now would be taken for done.
  if (from === undefined || from > last) {
    from = from === undefined ? begun : last;
    await checkpoints.advance({ [name]: from }, lease);
  }
  const types = Object.keys(reaction.on);
  // However it ends, nothing that can't be done is tried on: the lease would be kept for it, and nothing else be done.
  const over = new AbortController();
  const stop = AbortSignal.any([ended, over.signal]);
  let [saved, savedTo, reacted] = [performance.now(), from, false];
  let saving = Promise.resolve(true);
  /** False when another one has gone on with it. */
  const save = () => {
    saving = saving.then(async (isOurs) => {
      const position = pieces.lowWatermark();
      const isEarly = !reacted && performance.now() - saved < CHECKPOINT_EVERY_MS;
      if (!isOurs || isEarly || position === savedTo) return isOurs;
      [saved, savedTo, reacted] = [performance.now(), position, false];
      return checkpoints.advance({ [name]: position }, lease);
    });
    return saving;
  };
  // That it can't be saved is told by the next one.
  const pieces = createConcurrentProcessor(from, reaction.concurrent ? MOST_TOGETHER : MOST_BESIDE, () => {
    save().catch(() => {});
  });
  const work = async (event: RecordedEvent, step: () => void) => {
    if (await react(options, event, lease, stop, step)) reacted = true;
  };
  try {
    for await (const { events, position } of follow({ service, types, from, signal: stop })) {
      for (const event of events) await pieces.begin(event.position, (step) => work(event, step));
      if (position !== undefined) pieces.reach(position);
      if (!(await save())) return;
    }
  } finally {
    over.abort();
    await pieces.ended();
    await saving;
  }
}

/** Until it is done; `step`: others may go on beside it. False if there was nothing to do. */
async function react(
  options: ReactionOptions,
  event: RecordedEvent,
  lease: Lease,
  stop: AbortSignal,
  step: () => void,
): Promise<boolean> {
  const { reaction, reacted, logger } = options;
  const work = handlerFor(reaction.on, event);
  if (!work) return false;
  if (reaction.concurrent) step();
  for (let wait = BACKOFF_MS.first; ; wait = Math.min(wait * 2, BACKOFF_MS.most)) {
    stop.throwIfAborted();
    lease.assertHeld();
    try {
      await work(event);
      reacted(reaction.name);
      return true;
    } catch (error) {
      stop.throwIfAborted();
      logger.error({ err: error, reaction: reaction.name, event: event.id, retryMs: wait }, 'reaction failed');
      if (reaction.retryInBackground && !(error instanceof UnavailableError)) step();
      await sleep(wait, stop);
    }
  }
}
