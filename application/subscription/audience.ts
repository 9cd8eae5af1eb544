/** Who is told what: a pure fold of the log, tested without a socket. One per service. */
import { type DomainEvent, ownEntry } from '../../domain/shared/index.js';
import type { RevealedEvent } from '../ports/index.js';
import type { Fold, SnapshotForm } from './restore-fold.js';
import type { StreamCursors } from './stream-cursors.js';

/** Hears every event of its service in log order, each by its name: none is forgotten. */
export interface Audience<State, Event extends DomainEvent> {
  readonly initialState: State;
  readonly on: {
    readonly [Type in Event['type']]: EventRouting<State, RevealedEvent<Extract<Event, { readonly type: Type }>>>;
  };
  /** Where all that it folds stands in few streams: how far each of these is in a state, also in the initial one. */
  reached?(state: State): StreamCursors;
  /** How the state is kept for the next start; without, its facts are looked for in all of the log at each. */
  readonly snapshot?: SnapshotForm<State>;
}

/** What one event means; of one that changes nothing and is for nobody there is nothing to say. */
export interface EventRouting<State, Event> {
  /** Another state, or the same one where nothing has changed. */
  evolve?(state: State, event: Event): State;
  /** Judges by the state after the event, and by the state before it only where the thing itself ends. */
  deliver?(event: Event, after: State, before: State): readonly Delivery[];
}

/** What of an audience is folded before anybody listens: by those events that it has an `evolve` for. */
export function foldOf<State, Event extends DomainEvent>(audience: Audience<State, Event>): Fold<State> {
  const on: { readonly [type: string]: EventRouting<State, RevealedEvent> } = audience.on;
  const { initialState, reached, snapshot } = audience;
  return {
    initialState,
    types: Object.keys(on).filter((type) => on[type]?.evolve),
    evolve: (state, event) => ownEntry(on, event.type)?.evolve?.(state, event) ?? state,
    reached,
    snapshot,
  };
}

/** The state after an event, and who is told what of it. Total: one that nothing is said of means nothing. */
export function route<State>(
  audience: Audience<State, DomainEvent>,
  before: State,
  event: RevealedEvent,
): { readonly state: State; readonly deliveries: readonly Delivery[] } {
  const hearing = ownEntry(audience.on, event.type);
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
  readonly resource?: string;
  /** What it is about is erased by the event: what was told of it before is kept for nobody. */
  readonly erases?: boolean;
  readonly message: Message;
  /** The streams that receive it end with it. */
  readonly ends?: boolean;
  /** With which WebSockets close then, 4000 to 4999; 1000 unless given. */
  readonly endCode?: number;
}

/** What a client reads, as JSON: its members besides the type are those of the service's contract. */
export interface Message {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** Ends the streams of clients, or moves their end. */
export interface StreamControl {
  /** Ends all streams connected under a key. */
  end(key: string): void;
  /** Moves the end of the streams under a key to this Unix ms. */
  until(key: string, at: number): void;
}
