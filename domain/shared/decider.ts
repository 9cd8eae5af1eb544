/** Decider: a pure function from a command and the current state to events or a rejection. */

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

/** One handler for every event of a union discriminated by `type`. */
export type EventHandlers<Event extends Typed, Result> = {
  readonly [Type in Event['type']]: Handler<Extract<Event, { readonly type: Type }>, Result>['handle'];
};

interface Typed {
  readonly type: string;
}

/** Declared as a method: bivariant parameters let runners treat handlers of all services alike. */
interface Handler<Event, Result> {
  handle(event: Event): Result;
}

/** Returns the handler of an event, if any. The codec has validated that the data matches the type. */
export const handlerFor = <Event extends Typed, Result>(
  on: { readonly [type: string]: Handler<NoInfer<Event>, Result>['handle'] },
  { type }: Event,
): Handler<Event, Result>['handle'] | undefined => ownEntry(on, type);

/** Returns an own property of a table; ignores inherited ones such as `constructor`. */
export const ownEntry = <Entry>(table: { readonly [name: string]: Entry }, name: string): Entry | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Returns `now`, or the latest of the given earlier times if the clock has gone back; Unix ms. */
export const notBefore = (now: number, ...times: readonly (number | null | undefined)[]): number =>
  Math.max(now, ...times.map((time) => time ?? 0));
