/** Pushes events to connected clients: fold, fan out without waiting, and let clients resume where they were. */
import type { Clock, Position, RevealedEvent } from '../../../application/ports/index.js';
import { type Audience, type Delivery, type Message, route } from '../../../application/subscription/index.js';
import type { DomainEvent, ProjectionSwitched } from '../../../domain/shared/index.js';
import { createConnections, type RelayObserver } from './connections.js';
import { batchOf, type DeliveryBatch, framesFor, type PreparedDelivery, prepare } from './delivery-batch.js';
import { createRing, RING_BYTES } from './ring.js';
import { type Frame, frame, type Sink } from './sink.js';

export interface Connect<State> {
  /** The stream gets what is delivered to any of these. */
  readonly keys: readonly string[];
  /** The last position the client has seen; it gets what came after, or one `RESET` if that is too long ago, a
   * position that the log has not come to, or negative: a cursor that nobody gave. */
  readonly after?: Position;
  /** Whether the client may still see what it was entitled to then. Asked only for what it missed, or was too slow for. */
  readonly entitled?: (delivery: Delivery, now: State) => boolean;
  /** The stream's authority ends at this Unix ms, unless that is moved: the message is sent and the stream ends. */
  readonly until?: { readonly at: number; readonly message?: Message };
  /** Sent first. */
  readonly greeting?: Message;
}

export interface Relay<State, Event extends DomainEvent = DomainEvent> {
  /** Takes the events of the service in log order, opened; one seen before does nothing. */
  publish(event: RevealedEvent<Event | ProjectionSwitched>): void;
  connect(options: Connect<State>, sink: Sink): void;
  /**
   * Tells something that is in no log (a signal, somebody typing) to the streams under these keys that are open now.
   * Nobody can resume it. Returns how many streams got it.
   */
  tell(keys: readonly string[], told: Frame): number;
  /**
   * The same for what is large: in its turn, when the streams under this key have room for it. Settles then, or when
   * they have ended meanwhile; with whether anybody got it. Whoever passes it on waits, so that nothing piles up.
   */
  passOn(key: string, told: Frame): Promise<boolean>;
  /** Ends all streams connected under a key, after a last message if there is one. */
  end(key: string, message?: Message): void;
  /** Moves the end of the streams under a key that have an `until`, to this Unix ms. */
  until(key: string, at: number): void;
  /** Forgets all that was told: somebody in it is erased. Who comes back, or reads slowly, is told to read the state. */
  forget(): void;
  /** The fold just now: who may see what, fresher than any read model. */
  state(): State;
  /** Of the last event published. */
  position(): Position;
  /** What is kept for clients that come back, in bytes. */
  kept(): number;
  /** Tells every stream to come back, and takes no more. */
  close(): void;
}

export interface RelayOptions<State, Event extends DomainEvent> {
  readonly audience: Audience<State, Event>;
  /** The position of the log's last event. */
  readonly head: () => Promise<Position>;
  /** How many events that told something are kept for clients that come back; fewer where they are large. */
  readonly ringSize?: number;
  /** Events up to here were never published, so nobody can resume from before. */
  readonly from?: Position;
  /** What the audience had come to by then; as it is from the beginning of the log unless given. */
  readonly seed?: State;
  /** By which the authority of streams ends. */
  readonly clock?: Clock;
  readonly observe?: RelayObserver;
  readonly beatMs?: number | undefined;
}

export function createRelay<State, Event extends DomainEvent>({
  audience,
  head,
  ringSize = 10_000,
  from = 0n,
  seed = audience.initialState,
  clock,
  observe,
  beatMs,
}: RelayOptions<State, Event>): Relay<State, Event> {
  const ring = createRing<DeliveryBatch>({ items: ringSize, bytes: RING_BYTES, from });
  const connections = createConnections({ ring, head, clock, observe, beatMs });
  let state = seed;

  return {
    publish(event) {
      const { position } = event;
      if (position <= connections.latest()) return;
      const heard = route(audience, state, event);
      state = heard.state;
      const { deliveries } = heard;
      if (deliveries.length === 0) return connections.pass(position);
      const item = prepare(deliveries, position);
      connections.publish(
        item,
        deliveries.flatMap(({ to }) => to),
      );
      for (const { delivery, ends, to, last } of item.deliveries) {
        if (delivery.erases) letGo((each) => each.delivery.resource === delivery.resource && !each.delivery.erases);
        if (!ends) continue;
        for (const key of to) connections.end(key, last, { position, code: delivery.endCode });
        const ended = new Set(to);
        letGo((each) => each.to.every((key) => ended.has(key)));
      }
    },

    connect({ keys, after, entitled, until, greeting }, sink) {
      const mine = new Set(keys);
      const pick = ({ deliveries }: DeliveryBatch, missed: boolean) =>
        framesFor(
          deliveries.filter(
            ({ to, delivery }) =>
              to.some((key) => mine.has(key)) &&
              !delivery.except?.some((key) => mine.has(key)) &&
              (!missed || (entitled?.(delivery, state) ?? true)),
          ),
        );
      connections.connect({ keys, sink, pick }, { after, greeting, until });
    },

    tell: connections.tell,
    passOn: connections.passOn,
    end: (key, message) => connections.end(key, message && frame(message)),
    until: connections.until,
    forget: () => ring.clear(connections.latest()),
    state: () => state,
    position: connections.latest,
    kept: () => ring.bytes,
    close: connections.close,
  };

  /** What has ended is not to be seen again, and its content need not stay in memory. */
  function letGo(isOver: (kept: PreparedDelivery) => boolean) {
    ring.revise((item) => {
      if (!item.deliveries.some(isOver)) return item;
      const left = item.deliveries.filter((each) => !isOver(each));
      return left.length > 0 ? batchOf(left, item.position) : undefined;
    });
  }
}
