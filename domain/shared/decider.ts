/** The shape of every rule in the house: a command and the state so far give events, or a reason why not. */

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

/** What happened: a past participle and JSON data only, times as Unix milliseconds. */
export interface DomainEvent<Type extends string = string, Data extends object = object> {
  readonly type: Type;
  readonly data: Data;
}

/**
 * Pure rules over one stream. `decide` sees no clock, random source, key or database: they come in with the
 * command. An empty array means "already so". `evolve` is total: it never throws and never validates.
 */
export interface Decider<State, Command, Event extends DomainEvent> {
  readonly initialState: State;
  decide(command: Command, state: State): readonly Event[] | Rejection;
  evolve(state: State, event: Event): State;
}

export const isRejection = (outcome: unknown): outcome is Rejection =>
  typeof outcome === 'object' && outcome !== null && 'rejected' in outcome;
