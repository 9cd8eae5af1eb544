/** Event log port: streams with optimistic concurrency, and subscriptions. */
import type { DomainEvent, Sealed } from '../../domain/shared/index.js';

/** Position in the log. Ordered but not consecutive: EventStoreDB uses byte offsets. */
export type Position = bigint;

/** Location of an event in the log, and when it was recorded. */
export interface EventPosition {
  readonly id: string;
  readonly stream: string;
  /** Number within the stream, from 0. */
  readonly revision: number;
  readonly position: Position;
  readonly version: number;
  /** Unix ms by the store's clock. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
}

/**
 * Event as read from the log, upcast to the newest version; `data.secret`, if any, is still encrypted. `type` is the
 * name in the catalog, for example `RoomCreated`, or that of a system event (`$streamDeleted`).
 */
export type RecordedEvent<E extends DomainEvent = DomainEvent> = EventPosition & Sealed<E>;

export interface EventMetadata {
  readonly $correlationId?: string;
  readonly $causationId?: string;
  readonly commandId?: string;
  readonly fingerprint?: string;
  readonly actor?: string;
  readonly service?: string;
  readonly release?: string;
  readonly traceparent?: string;
}

/** Recorded event with its secret decrypted, or replaced by the fallback from the catalog (`erased` is true then). */
export type RevealedEvent<E extends DomainEvent = DomainEvent> = EventPosition & E & { readonly erased: boolean };

/** Event to append. */
export interface NewEvent {
  readonly id: string;
  readonly event: DomainEvent;
  readonly metadata: EventMetadata;
}

/** Revision a stream must have for an append to succeed; `none`: it must not exist. */
export type Expected = number | 'none';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly revision: number; readonly position: Position }
  /** Another append came first. `revision`: the current one, if the store reported it. */
  | { readonly outcome: 'conflict'; readonly revision?: number }
  /** The stream is tombstoned, or the key of its secrets is destroyed. */
  | { readonly outcome: 'deleted' };

export interface ReadOptions {
  /** First revision to read; default 0, or the last one if backwards. */
  readonly from?: number;
  readonly backwards?: boolean;
  readonly limit?: number;
}

/** Event log. Every method throws `UnavailableError` if the store is unavailable. */
export interface EventLog {
  /** Resolves once the events are flushed. The service of the stream selects the codec. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /** Reads events in stream order; `missing` or `deleted` if the stream does not exist (any more). */
  read(stream: string, options?: ReadOptions): Promise<readonly RecordedEvent[] | 'missing' | 'deleted'>;
  /**
   * Limits a stream to its newest `maxCount` events, to events younger than `maxAgeSeconds`, or to those from a
   * revision on. Has no effect on a deleted stream.
   */
  retain(
    stream: string,
    rule: { readonly maxCount?: number; readonly maxAgeSeconds?: number; readonly truncateBefore?: number },
  ): Promise<void>;
  /** Deletes a stream permanently. Idempotent. */
  tombstone(stream: string): Promise<void>;
}

/** Events in log order, and the position up to which the log was read. */
export interface Batch<Event = RecordedEvent> {
  readonly events: readonly Event[];
  readonly position?: Position;
  /** The subscription has reached the head of the log; may be reported any number of times. */
  readonly caughtUp: boolean;
}

/** Selects events by stream prefix, or by type if only few types of a service matter. */
export type Selection =
  | { readonly prefixes: readonly string[] }
  | { readonly service: string; readonly types: readonly string[] };

/** Subscribes to events after a position, in log order; ends only by its signal. */
export type Subscribe<Event = RecordedEvent> = (
  options: Selection & {
    readonly from: Position | 'start';
    readonly signal: AbortSignal;
    /** Maximum events per batch, and read ahead of it; default 1000. */
    readonly batchSize?: number;
  },
) => AsyncGenerator<Batch<Event>>;
