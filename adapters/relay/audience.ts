/** Who is told what: a pure fold of the log, tested without a socket. One per service. */
import type { Fold, SnapshotForm } from '../../application/follow/seed.js';
import type { RecordedEvent, RevealedEvent } from '../../application/ports.js';
import type { DomainEvent } from '../../domain/shared/decider.js';
import { entryOf } from '../../domain/shared/on.js';

/** Hears every event of its service in log order, each by its name: none is forgotten. */
export interface Audience<State, Event extends DomainEvent> {
  readonly initialState: State;
  readonly on: {
    readonly [Type in Event['type']]: Hearing<State, Extract<Event, { readonly type: Type }>>;
  };
  /** How the state is kept for the next start; without, it is folded from the beginning of the log at each. */
  readonly snapshot?: SnapshotForm<State>;
}

/** What one event means; of one that changes nothing and is for nobody there is nothing to say. */
export interface Hearing<State, Event extends DomainEvent> {
  /** Another state, or the same one. It comes sealed, or opened: nothing that is secret may stay in a state. */
  evolve?(state: State, event: RecordedEvent<Event> | RevealedEvent<Event>): State;
  /** Judges by the state after the event, and by the state before it only where the thing itself ends. */
  deliver?(event: RevealedEvent<Event>, after: State, before: State): readonly Delivery[];
}

/** What of an audience is folded before anybody listens: by those events that it has an `evolve` for. */
export function foldOf<State, Event extends DomainEvent>(audience: Audience<State, Event>): Fold<State> {
  const on: { readonly [type: string]: Hearing<State, DomainEvent> } = audience.on;
  const { initialState, snapshot } = audience;
  return {
    initialState,
    types: Object.keys(on).filter((type) => on[type]?.evolve),
    evolve: (state, event) => entryOf(on, event.type)?.evolve?.(state, event) ?? state,
    snapshot,
  };
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
  readonly message: Message;
  /** The streams that receive it end with it. */
  readonly ends?: boolean;
}

export interface Message {
  readonly type: string;
  readonly payload?: unknown;
}
