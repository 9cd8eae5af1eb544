/** Pushes events to connected clients: fold, fan out without waiting, and let clients resume where they were. */
import { estimateBytes } from '../../../application/concurrency/index.js';
import type { Clock, Position, RevealedEvent } from '../../../application/ports/index.js';
import { type Audience, type Delivery, type Message, routeEvent } from '../../../application/subscription/index.js';
import type { DomainEvent, ProjectionSwitched } from '../../../domain/shared/index.js';
import { createRing, RING_BYTES, type RingItem } from './client-stream.js';
import { createConnections, type RelayObserver } from './connections.js';
import { type Frame, frame, type Sink } from './sink.js';

export interface ConnectOptions<State> {
  /** Keys of the stream; it gets all deliveries to any of them. */
  readonly keys: readonly string[];
  /** Last position the client has seen. The stream starts after it, or with one `RESET` if that is not possible. */
  readonly after?: Position;
  /** Whether the client may still see a delivery it missed or was too slow for. */
  readonly entitled?: (delivery: Delivery, now: State) => boolean;
  /** The stream's authorization ends at this Unix ms, unless moved: the message is sent and the stream ends. */
  readonly until?: { readonly at: number; readonly message?: Message };
  readonly greeting?: Message;
}

export type Relay<State, Event extends DomainEvent = DomainEvent> = ReturnType<typeof createRelay<State, Event>>;

export interface RelayOptions<State, Event extends DomainEvent> {
  readonly audience: Audience<State, Event>;
  readonly head: () => Promise<Position>;
  /** Maximum events held for resuming clients; fewer if they are large. */
  readonly ringSize?: number;
  /** Events up to here were never published, so clients cannot resume before it. */
  readonly from?: Position;
  /** State of the audience at `from`; initially its state at the beginning of the log. */
  readonly seed?: State;
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
}: RelayOptions<State, Event>) {
  const ring = createRing<DeliveryBatch>({ items: ringSize, bytes: RING_BYTES, from });
  const connections = createConnections({ ring, head, clock, observe, beatMs });
  let state = seed;

  return {
    /** Accepts the decrypted events of the service in log order; repeated events have no effect. */
    publish(event: RevealedEvent<Event | ProjectionSwitched>) {
      const { position } = event;
      if (position <= connections.latest()) return;
      const routing = routeEvent(audience, state, event);
      state = routing.state;
      const { deliveries } = routing;
      if (deliveries.length === 0) return connections.advance(position);
      const item = prepare(deliveries, position);
      connections.publish(
        item,
        deliveries.flatMap(({ to }) => to),
      );
      for (const { delivery, ends, to, last } of item.deliveries) {
        const { erases } = delivery;
        if (erases !== undefined)
          removeDeliveries(
            ({ delivery: { resource, shows, erases: own } }) =>
              own !== erases && (resource === erases || !!shows?.includes(erases)),
          );
        if (!ends) continue;
        for (const key of to) connections.end(key, last, { position, code: delivery.endCode });
        const ended = new Set(to);
        removeDeliveries((each) => each.to.every((key) => ended.has(key)));
      }
    },

    connect({ keys, after, entitled, until, greeting }: ConnectOptions<State>, sink: Sink) {
      const ownKeys = new Set(keys);
      const pick = ({ deliveries }: DeliveryBatch, missed: boolean) =>
        framesFor(
          deliveries.filter(
            ({ to, delivery }) =>
              to.some((key) => ownKeys.has(key)) &&
              !delivery.except?.some((key) => ownKeys.has(key)) &&
              (!missed || (entitled?.(delivery, state) ?? true)),
          ),
        );
      connections.connect({ keys, sink, pick }, { after, greeting, until });
    },

    sendEphemeral: connections.sendEphemeral,
    sendWithBackpressure: connections.sendWithBackpressure,
    /** Ends all streams under a key, after an optional last message. */
    end: (key: string, message?: Message) => connections.end(key, message && frame(message)),
    until: connections.until,
    /** Clears the ring, because erased data is in it. Clients that resume or are slow must reload their state. */
    clear: () => ring.clear(connections.latest()),
    /** Current folded state, with the permissions; newer than any read model. */
    state: () => state,
    position: connections.latest,
    /** Bytes held for resuming clients. */
    bufferedBytes: () => ring.bytes,
    close: connections.close,
  };

  /** Removes deliveries that must not be seen again, and frees their memory. */
  function removeDeliveries(isOver: (delivery: PreparedDelivery) => boolean) {
    ring.revise((item) => {
      if (!item.deliveries.some(isOver)) return item;
      const remaining = item.deliveries.filter((each) => !isOver(each));
      return remaining.length > 0 ? batchOf(remaining, item.position) : undefined;
    });
  }
}

/** The deliveries of one event with their frames, as stored in the ring and sent to streams. */
interface DeliveryBatch extends RingItem {
  readonly deliveries: readonly PreparedDelivery[];
}

interface PreparedDelivery {
  readonly delivery: Delivery;
  readonly to: readonly string[];
  readonly ends: boolean;
  readonly last: Frame;
  /** Frame without a cursor, if the event has several: the client has not seen all of it yet. */
  readonly partial: Frame;
}

function prepare(deliveries: readonly Delivery[], position: Position): DeliveryBatch {
  const prepared = deliveries.map((delivery) => {
    const last = frame(delivery.message, position);
    const partial = deliveries.length > 1 ? frame(delivery.message) : last;
    return { delivery, to: delivery.to, ends: delivery.ends ?? false, last, partial };
  });
  return batchOf(prepared, position);
}

const OVERHEAD_BYTES = 500;

/** Each delivery is held twice: as an object and as serialized text. */
const batchOf = (deliveries: readonly PreparedDelivery[], position: Position): DeliveryBatch => ({
  position,
  deliveries,
  bytes: deliveries.reduce((sum, { delivery }) => sum + OVERHEAD_BYTES + 2 * estimateBytes(delivery), 0),
});

/** Returns the frames of one stream. Only the last carries the cursor. */
const framesFor = (prepared: readonly PreparedDelivery[]): readonly Frame[] =>
  prepared.map((each, index) => (index < prepared.length - 1 ? each.partial : each.last));
