/** What the application needs of the outside world, in its own words; adapters provide it, `bin` connects them. */
import type { Catalog, Sealed } from '../../domain/shared/catalog.js';
import type { DomainEvent, Rejection } from '../../domain/shared/decider.js';

/** A place in the log. Compared as a number, kept verbatim: a real server's positions are byte offsets. */
export type Position = bigint;

/** Who caused an event, and on whose request; kept with every event. Never an address, user agent or email. */
export interface CommandContext {
  /** Derived from an `Idempotency-Key` and its caller, else fresh. Event ids are derived from it. */
  readonly commandId: string;
  /** A keyed digest of the request, given only with an `Idempotency-Key`: another one is a misuse (422). */
  readonly fingerprint?: string;
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId?: string;
  readonly traceparent?: string;
  /** What the command counts towards, when it is done for the first time. */
  readonly quota?: Quota;
}

/** How often something may be done; whoever asks knows by whom. */
export interface Quota {
  /** Counts one more, or says why not. */
  spend(): Promise<Rejection | undefined>;
  /** One that was counted came to nothing. */
  refund(): Promise<void>;
}

/** Where an event stands in the log, and since when. */
export interface Recorded {
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
export type RecordedEvent<E extends DomainEvent = DomainEvent> = Recorded & Sealed<E>;

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
export type RevealedEvent<E extends DomainEvent = DomainEvent> = Recorded & E & { readonly erased: boolean };

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

/** The log or the rows can't be reached now: a 503, not a refusal. What was asked may have been done or not. */
export class Unavailable extends Error {
  override readonly name: string = 'Unavailable';
}

/** Something sealed that nobody can open ever again: damaged, or its key is of another backup, or lost. */
export class Unopenable extends Error {
  override readonly name = 'Unopenable';
  constructor(
    readonly subject: string,
    /** Tells one sealed thing from another. */
    readonly sealed: string,
    options?: ErrorOptions,
  ) {
    super(`something sealed for ${subject} can't be opened`, options);
  }
}

/** Something in the log is not what was written there, and never will be; the message says where. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
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

/** The keys of the subjects, outside the log. A destroyed key never comes back, nor another one unless it is renewed. */
export interface Vault {
  /** Makes the subject's key if it never had one. Rejects with `Unavailable` where it has one that is damaged. */
  create(subject: string): Promise<void>;
  /** Also where it was destroyed, another one: for what a wrong clock may have ended, and what is to come. */
  renew(subject: string): Promise<void>;
  /** Destroys the subject's key for ever: whatever it sealed is gone. Doing it again is fine. */
  destroy(subject: string): Promise<void>;
  /**
   * Encrypts JSON under the subject's key; undefined when the key is destroyed (or was never made). `once`: it will be
   * opened but once here, if at all, and need not be remembered after that.
   */
  seal(subject: string, secret: object, once?: boolean): Promise<string | undefined>;
  /**
   * Opens what `seal` made; undefined when the key is destroyed. Rejects with `Unopenable` where trying again will
   * not help: the text is damaged or sealed under another key, or its key was lost. `once`: as for `seal`.
   */
  open(subject: string, sealed: string, once?: boolean): Promise<object | undefined>;
  /** The same of many, in turns; rejects with `Unopenable` if one of them is. */
  openMany(subject: string, sealed: readonly string[]): Promise<readonly (object | undefined)[]>;
  /** The same for bytes, as they are: nothing is compressed, written as text or remembered. */
  sealBytes(subject: string, bytes: Uint8Array): Promise<Uint8Array | undefined>;
  openBytes(subject: string, sealed: Uint8Array): Promise<Uint8Array | undefined>;
  /**
   * Digests by which rows are found again: nobody can make or check one without the subject's key. Another
   * purpose gives others. Undefined when the key is destroyed.
   */
  digester(subject: string, purpose: string): Promise<Digester | undefined>;
}

/** 64 hexadecimal digits for a text, always the same. */
export type Digester = (text: string) => string;

/** Opens the secrets of recorded events by their catalog. */
export type Reveal = <E extends DomainEvent>(
  catalog: Catalog,
  event: RecordedEvent<E>,
) => Promise<RevealedEvent<E>>;

/** Values that look random to everyone without the installation's own key, and come out the same again for the
 * same parts: that is how a repeated command finds what its first run made. */
export interface Derivation {
  /** 32 bytes for a purpose and its parts. */
  secret(purpose: string, ...parts: readonly string[]): Buffer;
  /** A URL-safe identifier of 128 bits. */
  id(purpose: string, ...parts: readonly string[]): string;
  /**
   * The same of what a command makes: 96 bits behind the time of the command, where its id tells that, so that what is
   * made later comes behind it in stores. All 128 where it does not.
   */
  idInTime(purpose: string, commandId: string): string;
}

export interface Clock {
  /** Unix ms. */
  now(): number;
}

/** A clock that may be found to be wrong: nothing that can't be undone is done by `now` alone. */
export interface CertainClock extends Clock {
  /**
   * The time by which what is over can be ended for ever: the earlier of this machine's and the event store's, asked
   * anew. Undefined while the two are far apart, whichever is wrong. Rejects with `Unavailable`.
   */
  certain(): Promise<number | undefined>;
  /** Whether there is a certain time, as far as is known. */
  agrees(): boolean;
}

/** Rows of the served read models. */
export interface Rows {
  find<Row>(projection: string, query: RowQuery): Promise<readonly Row[]>;
}

export interface RowQuery {
  /** MongoDB filter over the row's fields. */
  readonly filter: { readonly [field: string]: unknown };
  readonly sort?: { readonly [field: string]: 1 | -1 };
  readonly limit?: number;
}

/** Read-your-writes: waits until the projection that is read has seen a position. */
export interface Settled {
  /**
   * True once this, and all that was in the log when the node started, is seen; false when 2 s (or `mostMs`) have
   * passed first: the answer then says `Consistency: pending`.
   */
  wait(projection: string, position: Position, mostMs?: number): Promise<boolean>;
  /** How far this node knows a projection to be; 0 when it knows nothing yet. */
  position(projection: string): Position;
  /** The last position this node appended to any of these streams and that not all projections may have seen yet. */
  latest(streams: readonly string[]): Position;
  /** The last position this node appended to any stream of a service. */
  latestOf(service: string): Position;
}

/** Something that this process holds in memory to be quick, bounded in bytes. */
export interface Cache {
  readonly name: string;
  readonly limitBytes: number;
  /** What it holds now, as far as that can be told. */
  bytes(): number;
}

/** One line about one thing, with fields; never a token, a body or a name. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
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
export type Follow = (
  options: Selection & {
    readonly from: Position | 'start';
    readonly signal: AbortSignal;
    /** Events in a batch, and read ahead of it, at most; default 1000. */
    readonly atOnce?: number;
  },
) => AsyncGenerator<Batch>;

/** The right to be the only active one of a name, for as long as it is renewed. */
export interface Lease {
  readonly name: string;
  /** Grows with every new holder: what a former holder still writes is refused by it. */
  readonly fence: bigint;
  /** Aborted when the lease is lost or released. */
  readonly lost: AbortSignal;
  /**
   * To be called just before whatever only the holder may do. Throws when the lease is lost, or would be by the
   * clock: a process that was paused comes back in the middle of its work, before any timer has told it.
   */
  assertHeld(): void;
  release(): Promise<void>;
}

export interface Leases {
  /** The lease, or undefined while another node holds it. */
  acquire(name: string): Promise<Lease | undefined>;
  /**
   * The node that holds it, undefined once it is released, or was watched for all of its time and not renewed. A
   * first look can't tell and takes it for held, whatever the clocks say: what nobody holds may be done away with.
   */
  holder(name: string): Promise<string | undefined>;
}

export interface Checkpoints {
  read(name: string): Promise<Position | undefined>;
  /**
   * Moves checkpoints to where the holder of a lease is; false when a later holder of it has done so meanwhile, or that
   * of another one, like a builder whom a projector follows, is further on.
   */
  advance(
    positions: { readonly [name: string]: Position },
    lease: Pick<Lease, 'name' | 'fence'>,
  ): Promise<boolean>;
  forget(name: string): Promise<void>;
  /** Of everything that is kept here, windows of the live feed too: how far into the log it has come. */
  all(): Promise<ReadonlyMap<string, Position>>;
}
