/** Who is told what: a pure fold of the log, tested without a socket. One per service. */
import type { RevealedEvent } from '../../application/ports.js';
import type { DomainEvent } from '../../domain/shared/decider.js';
import { entryOf } from '../../domain/shared/on.js';

/** Hears every event of its service in log order, each by its name: none is forgotten. */
export interface Audience<State, Event extends DomainEvent> {
  readonly initialState: State;
  readonly on: {
    readonly [Type in Event['type']]: Hearing<State, RevealedEvent<Extract<Event, { readonly type: Type }>>>;
  };
}

/** What one event means; of one that changes nothing and is for nobody there is nothing to say. */
export interface Hearing<State, Event> {
  evolve?(state: State, event: Event): State;
  /** Judges by the state after the event, and by the state before it only where the thing itself ends. */
  deliver?(event: Event, after: State, before: State): readonly Delivery[];
}

/** The state after an event, and who is told what of it. Total: one that nothing is said of means nothing. */
export function hear<State>(
  audience: Audience<State, DomainEvent>,
  before: State,
  event: RevealedEvent,
): { readonly state: State; readonly deliveries: readonly Delivery[] } {
  const hearing = entryOf(audience.on, event.type);
  const state = hearing?.evolve ? hearing.evolve(before, event) : before;
  return { state, deliveries: hearing?.deliver?.(event, state, before) ?? [] };
}

/** One message and whose streams it goes to. */
export interface Delivery {
  /** Keys that streams are connected under, for example a room's id or `user:<id>`. A stream gets it once. */
  readonly to: readonly string[];
  /** But not to streams that are connected under any of these as well. */
  readonly except?: readonly string[];
  /** What it tells of, where a stream may lose sight of that: for `entitled`. */
  readonly about?: string;
  readonly message: Message;
  /** The streams that receive it end with it. */
  readonly ends?: boolean;
}

export interface Message {
  readonly type: string;
  readonly payload?: unknown;
}
