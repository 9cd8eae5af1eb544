/** Decider: a pure function from a command and the current state to events or a rejection. */
import { ownEntry } from './event-handlers.js';

/** Category of a rejection. Adapters translate it, for example to an HTTP status; the name plays no part in that. */
export type RejectionKind =
  | 'invalid'
  /** Exceeds a fixed limit on size or number. */
  | 'too-large'
  /** The caller is not signed in. */
  | 'unauthenticated'
  /** The caller lacks permission. */
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  /** Existed and was permanently removed. */
  | 'gone'
  /** The `Idempotency-Key` was used for another request. */
  | 'misused-key'
  /** A rate limit or quota is used up; succeeds later. */
  | 'limit'
  /** Temporarily impossible for all callers; may be retried. */
  | 'unavailable';

/** Rejected command, as a value. `rejected` is a stable code: `<service>/<reason>`. */
export interface Rejection {
  readonly rejected: string;
  readonly kind: RejectionKind;
  /** Message to the user. */
  readonly detail?: string;
  /** For `limit`: milliseconds until a retry can succeed. */
  readonly retryAfterMs?: number;
}

/** JSON data; times in Unix ms. */
export type EventData = { readonly [member: string]: unknown };

/** Domain event. `type` is in the past tense, for example `RoomCreated`. */
export interface DomainEvent<Type extends string = string, Data extends EventData = EventData> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * Pure rules over one stream. `decide` uses no clock, random source, key or database: their values come with the
 * command. An empty array means that nothing has to change.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  readonly initialState: State;
  decide(command: Command, state: State): readonly Event[] | Rejection;
  readonly evolve: Evolve<State, Event>;
}

/** State transitions by event type, one for each. Must not throw or validate. */
export type Evolve<State, Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (state: State, data: Extract<Event, { readonly type: Type }>['data']) => State;
};

/** Returns a fold function for a decider's events; unknown events change nothing. */
export const evolveOf =
  <State, Event extends DomainEvent>({ evolve }: { readonly evolve: Evolve<State, Event> }) =>
  (state: State, { type, data }: Event): State => {
    const transitions: { readonly [type: string]: (state: State, data: Event['data']) => State } = evolve;
    const transition = ownEntry(transitions, type);
    return transition ? transition(state, data) : state;
  };

export const isRejection = (outcome: unknown): outcome is Rejection =>
  typeof outcome === 'object' && outcome !== null && 'rejected' in outcome;
