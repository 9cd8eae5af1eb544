/** Event catalog of a service: schemas, versions and encryption of its events, and the types derived from them. */
import type { DomainEvent, EventData } from './decider.js';
import type { DataOf, Schema } from './schema.js';

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
