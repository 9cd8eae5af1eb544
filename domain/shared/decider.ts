/** The shape of every rule in the house: a command and the state so far give events, or a reason why not. */
import { ownEntry } from './event-handlers.js';

/**
 * How a refused command is to be understood; adapters translate it, for example to an HTTP status. The kind alone
 * decides that: what a rejection is called says only which one of its kind it is.
 */
export type RejectionKind =
  | 'invalid'
  /** More, or longer, than is ever taken. */
  | 'too-large'
  /** Nobody knows who asks. */
  | 'unauthenticated'
  /** It is known who asks, and they may not. */
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  /** It was there, and never will be again. */
  | 'gone'
  /** An `Idempotency-Key` that belongs to another request. */
  | 'misused-key'
  /** As often, or as many, as is allowed now; later it may be done. */
  | 'limit'
  /** Not now, whoever asks: the same may be asked again. */
  | 'unavailable';

/** A refused command, as a value: `rejected` is stable and reads `<service>/<reason>`. */
export interface Rejection {
  readonly rejected: string;
  readonly kind: RejectionKind;
  /** What a person is told. */
  readonly detail?: string;
  /** For `limit`: milliseconds until a retry can succeed. */
  readonly retryAfterMs?: number;
}

/** JSON only, times as Unix milliseconds. */
export type EventData = { readonly [member: string]: unknown };

/** What happened: a past participle, and its data. */
export interface DomainEvent<Type extends string = string, Data extends EventData = EventData> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * Pure rules over one stream. `decide` sees no clock, random source, key or database: they come in with the
 * command. An empty array means "already so". `Folded`: what the rules fold, where it is more than they decide.
 */
export interface Decider<State, Command, Event extends DomainEvent, Folded extends DomainEvent = Event> {
  readonly initialState: State;
  decide(command: Command, state: State): readonly Event[] | Rejection;
  readonly evolve: Evolve<State, Folded>;
}

/** What each event makes of the state, by its name: none is forgotten. Never throws and never validates. */
export type Evolve<State, Event extends DomainEvent> = {
  readonly [Type in Event['type']]: (state: State, data: Extract<Event, { readonly type: Type }>['data']) => State;
};

/** Folds events by a decider's rules. Total: what they have no word for changes nothing. */
export const evolveOf =
  <State, Event extends DomainEvent>({ evolve }: { readonly evolve: Evolve<State, Event> }) =>
  (state: State, { type, data }: Event): State => {
    const rules: { readonly [type: string]: (state: State, data: Event['data']) => State } = evolve;
    const rule = ownEntry(rules, type);
    return rule ? rule(state, data) : state;
  };

export const isRejection = (outcome: unknown): outcome is Rejection =>
  typeof outcome === 'object' && outcome !== null && 'rejected' in outcome;
