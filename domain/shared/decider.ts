/**
 * Deciders, pure functions from a command and the current state to events or a rejection; and catalogs, which define the
 * schemas, versions and encryption of a service's events.
 */
import type { DataOf, Schema } from './schema.js';

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

/** `rejected`: `<service>/<reason>`; `detail`: message to the user. */
export const rejection = (rejected: `${string}/${string}`, kind: RejectionKind, detail: string): Rejection => ({
  rejected,
  kind,
  detail,
});

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

/** Returns a `decide` from one decision for each command type. */
export const decideByType =
  <State, Command extends Typed, Event extends DomainEvent>(
    decisions: {
      readonly [Type in Command['type']]: Decide<State, Command & { readonly type: Type }, Event>;
    },
  ): Decide<State, Command, Event> =>
  (command, state) =>
    (decisions as { readonly [type: string]: Decide<State, never, Event> })[command.type]!(command as never, state);

type Decide<State, Command, Event extends DomainEvent> = (
  command: Command,
  state: State,
) => readonly Event[] | Rejection;

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

/** JSON Schema with any keywords. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Version of an event. Within a version only optional fields may be added. */
export interface EventVersion {
  /** Schema of `data` in plaintext, including `secret`. */
  readonly schema: JsonSchema;
  /** Converts an event of this version to events of the next one. Absent on the newest version only. */
  readonly upcast?: (event: DomainEvent) => readonly DomainEvent[];
}

/** Encryption of `data.secret` with the subject's key. Once the key is destroyed, readers get `erased` instead. */
export interface Sealing {
  /** Returns the subject of the key, from the unencrypted data, for example `rooms.room-8Yt`. */
  subject(data: EventData): string;
  readonly erased: object;
  /** Large and rarely needed: the live feed passes it on encrypted, and consumers decrypt it on demand. */
  readonly large?: true;
  /** Decrypted by each node once, when it arrives on the live feed: not worth caching. */
  readonly once?: true;
}

/** Definition of an event without its data type; `event` creates one that is checked against its schema. */
export interface EventSpec {
  /** Version 1 first; new events use the last one. */
  readonly versions: readonly EventVersion[];
  readonly sealed?: Sealing;
  /** Returns the subject of the destroyed key: every node drops its cached copy on this event. */
  erases?(data: EventData): string;
}

/** All events of a service; codec, types, documentation and tests are derived from it. */
export interface Catalog {
  /** Name of the service: prefix of its streams and stored event types. */
  readonly service: string;
  readonly events: { readonly [type: string]: EventSpec };
}

/** Optional properties of an event; see `EventSpec`. */
interface EventOptions<Data> {
  readonly sealed?: {
    readonly subject: (data: Clear<Data>) => string;
    readonly erased: object;
    readonly large?: true;
    readonly once?: true;
  };
  readonly erases?: (data: Clear<Data>) => string;
  /** Earlier versions, oldest first. */
  readonly before?: readonly EventVersion[];
}

/** Returns the service of a stream or read model: the part of its name before the first dot. */
export const serviceOf = (name: string): string => name.slice(0, name.indexOf('.'));

/** Defines an event by the schema of its newest version. */
export const event = <const S extends Schema, const Options extends EventOptions<DataOf<S>> = Record<never, never>>(
  schema: S,
  options?: Options & EventOptions<DataOf<S>>,
) => {
  const { before = [], ...properties } = (options ?? {}) as Options;
  const versions: readonly [...EventVersion[], { readonly schema: S }] = [...before, { schema }];
  return { versions, ...properties };
};

type CatalogEvents = Pick<Catalog, 'events'>;
type Name<C extends CatalogEvents> = keyof C['events'] & string;

/** Union of the events of a catalog, discriminated by `type`: all of them, or the given types. */
export type EventOf<C extends CatalogEvents, Type extends Name<C> = Name<C>> = Type extends string
  ? DomainEvent<Type, Readable<C['events'][Type]>>
  : never;

/** Types of the events of a catalog that report a destroyed key. */
export type Erasing<C extends CatalogEvents> = {
  [Type in Name<C>]: C['events'][Type] extends { readonly erases: unknown } ? Type : never;
}[Name<C>];

/** Data as deciders see it: with the decrypted secret or its fallback. */
type Readable<Spec> = Spec extends {
  readonly versions: readonly [...unknown[], { readonly schema: infer S }];
}
  ? Spec extends { readonly sealed: { readonly erased: infer Erased } }
    ? WithSecret<DataOf<S>, Erased>
    : DataOf<S>
  : EventData;

type WithSecret<Data, Erased> = Data extends { readonly secret: infer Secret }
  ? { readonly [name in keyof Data]: name extends 'secret' ? Secret | Erased : Data[name] }
  : never;

type Clear<Data> = { readonly [name in keyof Data as name extends 'secret' ? never : name]: Data[name] };

/** Event as stored in the log: its secret is encrypted text. */
export type Sealed<Event extends DomainEvent> = Event extends {
  readonly type: infer Type extends string;
  readonly data: { readonly secret: unknown };
}
  ? DomainEvent<Type, { readonly [name in keyof Event['data']]: name extends 'secret' ? string : Event['data'][name] }>
  : Event;
