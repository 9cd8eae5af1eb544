/** The shape of a service's list of events, their one definition: what is stored of them, and the types they have. */
import type { DomainEvent, EventData } from './decider.js';
import type { DataOf, Schema } from './schema.js';

/** A JSON Schema with any keywords, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** One version of an event. Within a version only optional fields are ever added. */
export interface EventVersion {
  /** Of `data` as the domain sees it, `secret` included. */
  readonly schema: JsonSchema;
  /** Turns an event of this version into events of the next one. Absent on the newest version only. */
  readonly upcast?: (event: DomainEvent) => readonly DomainEvent[];
}

/**
 * An event whose `data.secret` is sealed: it is stored encrypted under the subject's key, and once that key is
 * destroyed every reader gets `erased` in its place.
 */
export interface Sealing {
  /** The subject whose key seals it, from the data in clear, for example `rooms.room-8Yt`. */
  subject(data: EventData): string;
  readonly erased: object;
  /** Large, and wanted by few: the live feed passes it on sealed, and whoever wants it opens it. */
  readonly large?: true;
  /** Opened by each node as it is told, and by nobody after that: there is no use in remembering it. */
  readonly once?: true;
}

/** As the kernel has it, which knows of all events alike; `event` makes one that is checked against its own data. */
export interface EventSpec {
  /** Version 1 first; the last is what writers write. */
  readonly versions: readonly EventVersion[];
  readonly sealed?: Sealing;
  /** The subject whose key this event says is destroyed: every node forgets its copy when it sees the event. */
  erases?(data: EventData): string;
}

/** The only list of a service's events: codec, types, documents and tests derive from it. */
export interface Catalog {
  /** The service's one word: stream prefix and event prefix. */
  readonly service: string;
  readonly events: { readonly [type: string]: EventSpec };
}

/** What may be said of an event besides its schema; see `EventSpec`. */
interface Aspects<Data> {
  readonly sealed?: {
    readonly subject: (data: Clear<Data>) => string;
    readonly erased: object;
    readonly large?: true;
    readonly once?: true;
  };
  readonly erases?: (data: Clear<Data>) => string;
  /** The versions before this one, oldest first. */
  readonly before?: readonly EventVersion[];
}

/** An event by the schema of its newest version. */
export const event = <const S extends Schema, const More extends Aspects<DataOf<S>> = Record<never, never>>(
  schema: S,
  more?: More & Aspects<DataOf<S>>,
) => {
  const { before = [], ...aspects } = (more ?? {}) as More;
  const versions: readonly [...EventVersion[], { readonly schema: S }] = [...before, { schema }];
  return { versions, ...aspects };
};

type Listed = Pick<Catalog, 'events'>;
type Name<C extends Listed> = keyof C['events'] & string;

/** The events of a catalog, told apart by their names: all of them, or those that are named. */
export type EventOf<C extends Listed, Type extends Name<C> = Name<C>> = Type extends string
  ? DomainEvent<Type, Readable<C['events'][Type]>>
  : never;

/** The names of those events of a catalog that say that a key is destroyed. */
export type Erasing<C extends Listed> = {
  [Type in Name<C>]: C['events'][Type] extends { readonly erases: unknown } ? Type : never;
}[Name<C>];

/** Data as deciders see it: what is sealed opened, or its fallback. */
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

/** An event as it stands in the log: what is sealed of it is a text. */
export type Sealed<Event extends DomainEvent> = Event extends {
  readonly type: infer Type extends string;
  readonly data: { readonly secret: unknown };
}
  ? DomainEvent<Type, { readonly [name in keyof Event['data']]: name extends 'secret' ? string : Event['data'][name] }>
  : Event;
