/** Audience of a service: a pure fold of its events that decides which clients receive which messages. */
import { type DomainEvent, type EventHandlers, handlerFor, ownEntry } from '../../domain/shared/index.js';
import type { RevealedEvent } from '../ports/index.js';
import type { Fold, SnapshotFormat } from './fold-snapshots.js';
import type { StreamCursors } from './stream-cursors.js';

/** Routing rules of a service. The type requires an entry for every event; events arrive in log order. */
export interface Audience<State, Event extends DomainEvent> {
  readonly initialState: State;
  readonly on: {
    readonly [Type in Event['type']]: EventRouting<State, RevealedEvent<Extract<Event, { readonly type: Type }>>>;
  };
  /** Cursors of the folded streams in a state, if these are few; they are present in the initial state, too. */
  cursors?(state: State): StreamCursors;
  /** Snapshot format of the state; without one every start reads the events from the whole log. */
  readonly snapshot?: SnapshotFormat<State>;
}

/** Effects of one event type; empty for events that change no state and are sent to no client. */
export interface EventRouting<State, Event> {
  /** Returns the new state, or the same object if nothing changes. */
  evolve?(state: State, event: Event): State;
  /** Decides by the state after the event; by the state before it only if the event ends the resource. */
  deliver?(event: Event, after: State, before: State): readonly Delivery[];
}

/** Returns the fold of an audience, without deliveries, over the events that have an `evolve`. */
export function audienceFold<State, Event extends DomainEvent>(audience: Audience<State, Event>): Fold<State> {
  const on: { readonly [type: string]: EventRouting<State, RevealedEvent> } = audience.on;
  const { initialState, cursors, snapshot } = audience;
  return {
    initialState,
    types: Object.keys(on).filter((type) => on[type]?.evolve),
    evolve: (state, event) => ownEntry(on, event.type)?.evolve?.(state, event) ?? state,
    reached: cursors,
    snapshot,
  };
}

/** Applies one event: returns the new state and the deliveries. Ignores unknown events. */
export function routeEvent<State>(
  audience: Audience<State, DomainEvent>,
  before: State,
  event: RevealedEvent,
): { readonly state: State; readonly deliveries: readonly Delivery[] } {
  const routing = ownEntry(audience.on, event.type);
  const state = routing?.evolve ? routing.evolve(before, event) : before;
  return { state, deliveries: routing?.deliver?.(event, state, before) ?? [] };
}

/** Returns a handler for the live feed that calls the function of an event's type, if the table has one. */
export const handleByType =
  <Event extends DomainEvent, Result = void>(on: EventHandlers<Event, Result>) =>
  (event: DomainEvent): Result | undefined =>
    handlerFor<DomainEvent, Result>(on, event)?.(event);

/** One message and the client streams that receive it. */
export interface Delivery {
  /** Keys of client streams, for example a room's id or `user:<id>`. Each stream receives the message once. */
  readonly to: readonly string[];
  readonly except?: readonly string[];
  /** Resource of the message, if clients may lose access to it; checked by `entitled`. */
  readonly resource?: string;
  /** Ids of the subjects that the message shows. */
  readonly shows?: readonly string[];
  /** Id of a resource, or of something shown, that the event erases: earlier messages about it are no longer delivered. */
  readonly erases?: string;
  readonly message: Message;
  /** Closes the receiving streams after the message. */
  readonly ends?: boolean;
  /** WebSocket close code of those streams, 4000 to 4999; default 1000. */
  readonly endCode?: number;
}

/** JSON message to a client; its members are defined by the contract of the service. */
export interface Message {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Closes client streams, or sets when they expire. */
export interface StreamControl {
  end(key: string): void;
  /** Sets the expiry of all streams of a key, Unix ms. */
  until(key: string, at: number): void;
}
