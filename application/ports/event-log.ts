/** The event log: streams of events with optimistic concurrency, and subscriptions to them. */
import type { DomainEvent, Sealed } from '../../domain/shared/index.js';

/** A place in the log. Compared as a number, kept verbatim: a real server's positions are byte offsets. */
export type Position = bigint;

/** Where an event stands in the log, and since when. */
export interface EventPosition {
  readonly id: string;
  readonly stream: string;
  /** Counted from 0 within the stream. */
  readonly revision: number;
  readonly position: Position;
  readonly version: number;
  /** Unix ms at which the store took it. */
  readonly recordedAt: number;
  readonly metadata: EventMetadata;
}

/**
 * An event as it stands in the log, of the newest version; `data.secret`, if any, still sealed. `type` is the
 * catalog's name, for example `RoomCreated`; system events keep their own (`$streamDeleted`).
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

/** A recorded event with its secret opened, or replaced by the declared fallback (`erased` is then true). */
export type RevealedEvent<E extends DomainEvent = DomainEvent> = EventPosition & E & { readonly erased: boolean };

/** An event on its way into the log. */
export interface NewEvent {
  readonly id: string;
  readonly event: DomainEvent;
  readonly metadata: EventMetadata;
}

/** The last revision a stream must have for an append to be taken; `none` for a stream that must not exist. */
export type Expected = number | 'none';

export type AppendOutcome =
  | { readonly outcome: 'appended'; readonly revision: number; readonly position: Position }
  /** Somebody else was there first: read on and decide again. `revision`: where the stream is, if that was told. */
  | { readonly outcome: 'conflict'; readonly revision?: number }
  /** The stream is tombstoned, for ever. */
  | { readonly outcome: 'deleted' };

export interface ReadOptions {
  /** First revision to read, default 0 (or the last, backwards). */
  readonly from?: number;
  readonly backwards?: boolean;
  readonly limit?: number;
}

/** The log: streams of events with optimistic concurrency. Every method rejects with `Unavailable` when the
 * store is away. */
export interface EventLog {
  /** Resolves only when flushed. The events' service decides the codec. */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendOutcome>;
  /** The events of a stream in order; `missing` or `deleted` when there is no such stream (any more). */
  read(stream: string, options?: ReadOptions): Promise<readonly RecordedEvent[] | 'missing' | 'deleted'>;
  /** Keeps only the newest `maxCount` events of a stream, or those younger than `maxAgeSeconds`, or from a revision
   * on; nothing of one that was ended. */
  retain(
    stream: string,
    rule: { readonly maxCount?: number; readonly maxAgeSeconds?: number; readonly truncateBefore?: number },
  ): Promise<void>;
  /** Ends a stream for ever. Doing it again is fine. */
  tombstone(stream: string): Promise<void>;
}

/** Some events in log order, and how far the log has been seen with them. */
export interface Batch {
  readonly events: readonly RecordedEvent[];
  readonly position?: Position;
  /** The subscription was at the head of the log for a moment; may be said any number of times. */
  readonly caughtUp: boolean;
}

/** Which events: by the names of their streams, or by type where few of a service's events matter. */
export type Selection =
  | { readonly prefixes: readonly string[] }
  | { readonly service: string; readonly types: readonly string[] };

/** Follows events from just after a position, in log order, for ever: ends only by its signal. */
export type Subscribe = (
  options: Selection & {
    readonly from: Position | 'start';
    readonly signal: AbortSignal;
    /** Events in a batch, and read ahead of it, at most; default 1000. */
    readonly atOnce?: number;
  },
) => AsyncGenerator<Batch>;
