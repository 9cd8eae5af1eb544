/** Types of aggregates: how one is defined, what is loaded of it, and the store that loads it. */
import type { Catalog, Decider, DomainEvent, EventOf, EventSpec, Rejection } from '../../domain/shared/index.js';
import type { Cache, Position, RecordedEvent, RevealedEvent } from '../ports/index.js';

/** Definition of an aggregate: its decider, its events and the retention of its streams. */
export interface Aggregate<State, Command, Event extends DomainEvent> {
  readonly decider: Decider<State, Command, Event>;
  /** Contains every event that the decider returns. */
  readonly catalog: Catalog & { readonly events: { readonly [Type in Event['type']]: EventSpec } };
  /** Event types with secrets that the decider reads; default `all`. Other events are folded as if erased. */
  readonly decrypts?: 'all' | 'none' | readonly Event['type'][];
  /** Events its streams retain (`$maxCount`); older ones are no longer in the log. */
  readonly maxCount?: number;
  /** Its streams have a `$maxAge`: a live stream may have no events left. */
  readonly maxAge?: true;
  /** Whether an event contains the whole state: a stream is read from the newest on, and forgets older idempotency keys. */
  readonly isSnapshotEvent?: (event: RecordedEvent) => boolean;
  /** How the subject of a stream ends, if it can. */
  readonly termination?: Termination<State>;
  /** Whether a command creates its stream, with a derived id: nothing is read, and a repetition conflicts on append. */
  creates?(command: Command): boolean;
}

/** Returns the function that defines the aggregates of a service. */
export const aggregatesOf =
  <C extends Catalog>(catalog: C) =>
  <State, Command, Event extends EventOf<C, keyof C['events'] & string>>(
    decider: Decider<State, Command, Event>,
    options: Omit<Aggregate<State, Command, Event>, 'decider' | 'catalog'> = {},
  ): Aggregate<State, Command, Event> => ({
    // Contains every event of the service.
    catalog: catalog as unknown as Aggregate<State, Command, Event>['catalog'],
    decider,
    ...options,
  });

export interface Termination<State> {
  /** Result of every command after the end, or once the stream is deleted. */
  readonly rejection: Rejection;
  /** Whether an event has ended the subject. */
  isEnded?(state: State): boolean;
  /** When the subject expires, Unix ms. */
  endsAt?(state: State): number;
}

/** First and last revision that a command wrote. */
export interface CommandRange {
  readonly first: number;
  readonly last: number;
}

export interface LoadedAggregate<State> {
  readonly state: State;
  /** Last revision folded in; -1 for a stream without events. */
  readonly revision: number;
  /** Position of that event; 0 for a stream without events. */
  readonly position: Position;
  /**
   * Idempotency index: what each command with an `Idempotency-Key` wrote, by command id. Shared by all loaded versions
   * of a stream, because it only records what is in the log.
   */
  readonly commands: Map<string, CommandRange>;
  readonly deleted: boolean;
}

export interface ReloadOptions {
  /** Called with every event read, oldest first. */
  readonly onEvent: (event: RecordedEvent) => void;
  /** Reads from just after this revision, even if later events are cached already. */
  readonly after?: number | undefined;
}

export interface AggregateStore {
  /** Returns the cached aggregate, or reads it from the log. */
  load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string): Promise<LoadedAggregate<S>>;
  /** Returns the cached aggregate unless the live feed has delivered newer events; never reads the log. */
  cached<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string): LoadedAggregate<S> | undefined;
  /** Reads the aggregate, or its new events, from the log. */
  reload<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    options?: ReloadOptions,
  ): Promise<LoadedAggregate<S>>;
  /** Reads the state just after a revision. */
  asOf<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    revision: number,
  ): Promise<LoadedAggregate<S>>;
  /** Reads the events of a command, decrypted; empty once the log has dropped them. */
  eventsOfCommand<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    command: CommandRange,
  ): Promise<readonly RevealedEvent<E>[]>;
  /** Caches the result of an append by this process. */
  remember<S>(stream: string, loaded: LoadedAggregate<S>): void;
  /** Caches a state folded elsewhere; newer events are read from the log before its first use. */
  seed<S>(stream: string, loaded: LoadedAggregate<S>): void;
  /** Marks cached aggregates stale when other nodes append; call it with every event of the live feed. */
  onEvent(event: RecordedEvent): void;
  /** Drops a stream from the cache, because its data was erased. */
  forget(stream: string): void;
  readonly caches: readonly [Cache, Cache];
}
