/** The shape of a service's list of events: names, versions, schemas, upcasters, sealed content. */
import type { DomainEvent } from './decider.js';

/** A JSON Schema (draft 2020-12 as far as ajv checks it), as plain data. */
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
  readonly subject: (data: never) => string;
  readonly erased: object;
  /** Large, and wanted by few: the live feed passes it on sealed, and whoever wants it opens it. */
  readonly large?: true;
}

export interface EventSpec {
  /** Version 1 first; the last is what writers write. */
  readonly versions: readonly EventVersion[];
  readonly sealed?: Sealing;
  /** The subject whose key this event says is destroyed: every node forgets its copy when it sees the event. */
  readonly erases?: (data: never) => string;
}

/** The only list of a service's events: codec, documents and tests derive from it. */
export interface Catalog {
  /** The service's one word: stream prefix and event prefix. */
  readonly service: string;
  readonly events: { readonly [type: string]: EventSpec };
}
