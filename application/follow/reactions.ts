/** The loop for side effects: what must follow an event in the world, at least once, never by a rebuild. */
import type { DomainEvent } from '../../domain/shared/decider.js';
import { handlerOf, type On } from '../../domain/shared/on.js';
import { pause } from '../pause.js';
import {
  type Checkpoints,
  type CommandContext,
  type Derivation,
  type Follow,
  type Lease,
  type Leases,
  type Logger,
  type Position,
  type RecordedEvent,
  Unavailable,
} from '../ports.js';
import { keepLeading } from './leading.js';

/** `Event`: those that it follows. */
export interface Reaction<Event extends DomainEvent> {
  /** `<service>.<what>`, for example `rooms.erase`. */
  readonly name: string;
  /** Must do no harm when done again; a rejection is tried again until it succeeds. */
  readonly on: On<RecordedEvent<Event>, Promise<void>>;
  /** Events that come together are worked on together: one that takes long keeps none of those from being done. */
  readonly together?: true;
  /**
   * What it does for one event hangs on no other: one that can't be done, of a damaged stream for example, is tried again
   * beside those that come after it. An `Unavailable` store keeps them all waiting.
   */
  readonly unordered?: true;
}

/** As it is run: by whoever knows no event. */
export type AnyReaction = Reaction<DomainEvent>;

/** By what follows an event: the same command however often that comes. `which`: where several follow one. */
export const following = (
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
  readonly follow: Follow;
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

/** Runs while this node holds the reaction's lease; settles when the signal has stopped it. */
export function runReaction(options: ReactionOptions): Promise<void> {
  const { reaction, leases, logger, signal } = options;
  return keepLeading({
    leases,
    lease: `reaction:${reaction.name}`,
    lead: (lease, stop) => lead(options, lease, stop),
    standbyMs: STANDBY_MS,
    onFailure: (err) => logger.error({ err, reaction: reaction.name }, 'reaction stopped, starting again'),
    signal,
  });
}

async function lead(options: ReactionOptions, lease: Lease, stop: AbortSignal): Promise<void> {
  const { service, reaction, follow, checkpoints, head, begun } = options;
  const name = `reaction:${reaction.name}`;
  let from = await checkpoints.read(name);
  const last = await head();
  // One ahead of the log is of before a backup was restored: what comes now would be taken for done.
  if (from === undefined || from > last) {
    from = from === undefined ? begun : last;
    await checkpoints.advance({ [name]: from }, lease);
  }
  let saved = performance.now();
  const types = Object.keys(reaction.on);
  /** Those that are tried again beside others, oldest first, with the checkpoint of before each: it stays there. */
  const beside = new Map<string, { readonly before: Position; readonly done: Promise<void> }>();
  let at = from;
  try {
    for await (const { events, position } of follow({ service, types, from, signal: stop })) {
      let reacted = false;
      const work = async (event: RecordedEvent) => {
        const mayStep = reaction.unordered && beside.size < MOST_BESIDE;
        const outcome = await react(options, event, lease, stop, mayStep);
        if (outcome === 'done') reacted = true;
        if (outcome !== 'failed') return;
        // It ends with this turn, and is begun anew by the next one.
        const again = react(options, event, lease, stop).catch(() => {});
        beside.set(event.id, { before: at, done: again.then(() => void beside.delete(event.id)) });
      };
      if (reaction.together) await Promise.all(events.map(work));
      else for (const event of events) await work(event);
      if (position === undefined || (!reacted && performance.now() - saved < CHECKPOINT_EVERY_MS)) continue;
      saved = performance.now();
      at = position;
      const [oldest] = beside.values();
      if (!(await checkpoints.advance({ [name]: oldest?.before ?? at }, lease))) return;
    }
  } finally {
    await Promise.all([...beside.values()].map(({ done }) => done));
  }
}

/** Until it is done; `mayFail`: but once, if it is not the store that is away. */
async function react(
  options: ReactionOptions,
  event: RecordedEvent,
  lease: Lease,
  stop: AbortSignal,
  mayFail = false,
): Promise<'none' | 'done' | 'failed'> {
  const { reaction, reacted, logger } = options;
  const work = handlerOf(reaction.on, event);
  if (!work) return 'none';
  for (let wait = BACKOFF_MS.first; ; wait = Math.min(wait * 2, BACKOFF_MS.most)) {
    stop.throwIfAborted();
    lease.assertHeld();
    try {
      await work(event);
      reacted(reaction.name);
      return 'done';
    } catch (error) {
      stop.throwIfAborted();
      logger.error(
        { err: error, reaction: reaction.name, event: event.id, retryMs: wait },
        'reaction failed',
      );
      if (mayFail && !(error instanceof Unavailable)) return 'failed';
      await pause(wait, stop);
    }
  }
}
