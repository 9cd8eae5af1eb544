/** Pushes events to connected clients: fold, fan out without waiting, and let clients resume where they were. */
import type { Position, RevealedEvent } from '../../application/ports.js';
import type { DomainEvent } from '../../domain/shared/decider.js';
import type { Audience, Delivery, Message } from './audience.js';
import { createConnections, type RelayObserver } from './connections.js';
import { inSequence, type Kept, keep } from './kept.js';
import { createRing } from './ring.js';
import { type Frame, frame, type Sink } from './sink.js';

export interface Connect<State> {
  /** The stream gets what is delivered to any of these. */
  readonly keys: readonly string[];
  /** The last position the client has seen; it gets what came after, or one `RESET` if that is too long ago (or
   * negative: a cursor that nobody gave). */
  readonly after?: Position;
  /** Whether the client may still see what it was entitled to then. Asked only for what it missed. */
  readonly entitled?: (delivery: Delivery, now: State) => boolean;
  /** The stream's authority ends at this Unix ms: the message is sent and the stream ends. */
  readonly until?: { readonly at: number; readonly message?: Message };
  /** Sent first. */
  readonly greeting?: Message;
}

export interface Relay<State, Event extends DomainEvent = DomainEvent> {
  /** Takes the events of the service in log order; one seen before does nothing. */
  publish(event: RevealedEvent<Event>): void;
  connect(options: Connect<State>, sink: Sink): void;
  /**
   * Tells something that is in no log (a signal, somebody typing) to the streams under these keys that are open now.
   * Nobody can resume it. Returns how many streams got it.
   */
  tell(keys: readonly string[], message: Message): number;
  /** Ends all streams connected under a key, after a last message if there is one. */
  end(key: string, message?: Message): void;
  /** The fold just now: who may see what, fresher than any read model. */
  state(): State;
  /** Of the last event published. */
  position(): Position;
  /** Tells every stream to come back, and takes no more. */
  close(): void;
}

export interface RelayOptions<State, Event extends DomainEvent> {
  readonly audience: Audience<State, Event>;
  /** How many deliveries are kept for clients that come back. */
  readonly ringSize?: number;
  /** Events up to here were never published, so nobody can resume from before. */
  readonly from?: Position;
  readonly observe?: RelayObserver;
}

/** More than this at once is told as a RESET: it would take a client that comes back for a slow one. */
const MAX_REPLAY_CHARS = 256 * 1024;

export function createRelay<State, Event extends DomainEvent>({
  audience,
  ringSize = 10_000,
  from = -1n,
  observe,
}: RelayOptions<State, Event>): Relay<State, Event> {
  const ring = createRing<Kept>(ringSize, from);
  const connections = createConnections(observe);
  let state = audience.initialState;
  let position = from;

  return {
    publish(event) {
      if (event.position <= position) return;
      const before = state;
      state = audience.evolve(before, event);
      position = event.position;
      const kept = audience.deliver(event, state, before).map((delivery) => keep(delivery, position));
      for (const each of kept) ring.push(position, each);
      connections.fanOut(kept, position);
      for (const { ends, to } of kept) if (ends) forget(to);
    },

    connect(options, sink) {
      const { keys, after, until, greeting } = options;
      // A cursor ahead of us comes from a node that has seen more of the log.
      const start = after !== undefined && after > position ? after : position;
      const missed = after === undefined || after >= position ? [] : replay(after, options);
      if (greeting) sink.send(frame(greeting, missed.length > 0 ? undefined : start));
      for (const each of missed) sink.send(each);
      connections.add({ keys, sink, since: start }, until);
    },

    tell: (keys, message) => connections.tell(keys, frame(message)),
    end: (key, message) => connections.end(key, message && frame(message)),
    state: () => state,
    position: () => position,
    close: () => connections.close(),
  };

  function replay(after: Position, { keys, entitled }: Connect<State>): readonly Frame[] {
    const reset = [frame({ type: 'RESET' }, position)];
    const items = after < 0n ? 'too-old' : ring.since(after);
    if (items === 'too-old') return reset;
    const mine = new Set(keys);
    const frames = inSequence(
      items.filter(
        (kept) => kept.to.some((key) => mine.has(key)) && (entitled?.(kept.delivery, state) ?? true),
      ),
    );
    const chars = frames.reduce((sum, { json }) => sum + json.length, 0);
    return chars > MAX_REPLAY_CHARS ? reset : frames;
  }

  /** What has ended is not to be seen again, and its content need not stay in memory. */
  function forget(keys: readonly string[]) {
    const ended = new Set(keys);
    ring.forget(({ to }) => to.every((key) => ended.has(key)));
  }
}
