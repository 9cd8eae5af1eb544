/** The state of single streams, folded from the log and remembered, so that hot ones are not read again. */
import {
  type Catalog,
  type Decider,
  type DomainEvent,
  type EventSpec,
  evolveOf,
  type Rejection,
  type Sealed,
} from '../../domain/shared/index.js';
import { createSingleFlight } from '../concurrency/index.js';
import type { Cache, DecryptEvent, EventLog, Position, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { asErasedEvent } from '../secrets/index.js';
import { type AggregateCacheOptions, createAggregateCache } from './aggregate-cache.js';
import { asEvent } from './event-guards.js';
import { type CommandRange, type IdempotencyIndex, indexBefore, recordCommand } from './idempotency-index.js';
import { createReadInvalidation, type Invalidation } from './read-invalidation.js';
import { readForward } from './read-stream-pages.js';
import { findReplayStart } from './replay-start.js';

/** A kind of stream: its rules, and the events it may hold. */
export type Aggregate<State, Command, Event extends DomainEvent> =
  | PlaintextAggregate<State, Command, Event>
  | SealedAggregate<State, Command, Event>;

interface AggregateOptions<State, Command, Event extends DomainEvent> {
  /** Every event that the rules decide is in it. */
  readonly catalog: Catalog & { readonly events: { readonly [Type in Event['type']]: EventSpec } };
  /** How many events its streams keep at most (`$maxCount`): older ones are not found in the log any more. */
  readonly maxCount?: number;
  /** Its streams keep events for a time only (`$maxAge`): there may be none left of one that goes on all the same. */
  readonly maxAge?: true;
  /**
   * Whether an event says all of the state, whatever came before it: a stream that may grow without end is read from
   * one of its newest on. What was done under a key before is looked for back to `LOOKED_BACK` events.
   */
  readonly isSnapshotEvent?: (event: RecordedEvent) => boolean;
  /** Where what its streams are about comes to an end. */
  readonly termination?: Termination<State>;
  /**
   * Whether streams are born of a command, under an id that follows from the command's: there is nothing to be read
   * first. Where it ran before, the append tells, by a conflict.
   */
  creates?(command: Command): boolean;
}

export interface PlaintextAggregate<State, Command, Event extends DomainEvent>
  extends AggregateOptions<State, Command, Event> {
  readonly decider: Decider<State, Command, Event>;
  readonly blind?: never;
  /** Events whose secrets its rules never look at: they are folded unopened, as if erased. */
  readonly unread?: readonly string[];
  /** Events whose secrets take each other's place: of those that are read together only the last is opened. */
  readonly replacing?: readonly string[];
}

/** Its rules look at no secret: events are folded as they stand in the log, unopened. */
export interface SealedAggregate<State, Command, Event extends DomainEvent>
  extends AggregateOptions<State, Command, Event> {
  readonly decider: Decider<State, Command, Event, Event | Sealed<Event>>;
  readonly blind: true;
}

export interface Termination<State> {
  /** What everybody is told of it from then on, by its state or because the stream was ended. */
  readonly rejection: Rejection;
  /** Whether something that happened has ended it. */
  byEvent?(state: State): boolean;
  /** When it ends by itself, Unix ms. */
  at?(state: State): number;
}

export interface LoadedAggregate<State> extends IdempotencyIndex {
  readonly state: State;
  /** The last revision folded in; -1 when the stream has no event. */
  readonly revision: number;
  /** The position of that event; 0 when there is none. */
  readonly position: Position;
  readonly deleted: boolean;
}

export interface Seeking {
  /** Is given every event that is read, oldest first. */
  readonly found: (event: RecordedEvent) => void;
  /** Read on from just after this revision, though what came after it may be known already. */
  readonly after?: number | undefined;
}

export interface AggregateStore {
  /** The state as this process knows it, read from the log when it is not remembered. */
  load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string): Promise<LoadedAggregate<S>>;
  /** The same where it is remembered, and no more was heard of since; asks nobody. */
  cached<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string): LoadedAggregate<S> | undefined;
  /** The state as the log has it now. */
  reload<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    seeking?: Seeking,
  ): Promise<LoadedAggregate<S>>;
  /** The state just after a revision. */
  asOf<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string, at: number): Promise<LoadedAggregate<S>>;
  /** With the keyed commands of before where it was read from, as far back as any is known. */
  withIdempotencyIndex<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    loaded: LoadedAggregate<S>,
  ): Promise<LoadedAggregate<S>>;
  /** What a command wrote, secrets opened but of a blind kind; empty when the log keeps it no longer. */
  eventsOfCommand<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    command: CommandRange,
  ): Promise<readonly (RevealedEvent<E> | RecordedEvent<E>)[]>;
  /** Remembers what an append of this process made of a stream. */
  remember<S>(stream: string, loaded: LoadedAggregate<S>): void;
  /** Remembers what something else has folded of a stream: what has come since is read before anybody relies on it. */
  seed<S>(stream: string, loaded: LoadedAggregate<S>): void;
  /** Keeps remembered streams fresh with what other nodes append; give it every event of the live feed. */
  onEvent(event: RecordedEvent): void;
  /** Drops what is remembered of a stream: what it was folded from has been erased. */
  forget(stream: string): void;
  readonly caches: readonly [Cache, Cache];
}

/** What an event, once it is opened, makes of a state. */
type Folding<State> = (event: RecordedEvent) => Promise<(state: State) => State>;

interface Remembered {
  loaded: LoadedAggregate<unknown>;
  /** The newest revision the live feed has shown; when it is beyond `loaded`, the tail is read first. */
  newest: number;
  /** Nobody has looked yet whether there is more. */
  readonly isBase?: boolean;
}

export function createAggregateStore(
  log: EventLog,
  reveal: DecryptEvent,
  bounds?: AggregateCacheOptions,
): AggregateStore {
  const remembered = createAggregateCache<Remembered>(({ loaded }) => loaded, bounds);

  const hearing = createReadInvalidation();
  const shared = createSingleFlight();

  /** How `events` of a kind are opened, which are read together, and what each makes of the state. */
  function folding<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    events: readonly RecordedEvent[],
  ): Folding<S> {
    if (kind.blind) {
      const evolve = evolveOf(kind.decider);
      return async (event) => (state) => evolve(state, asEvent<E>(event));
    }
    const { catalog, decider, unread, replacing } = kind;
    const evolve = evolveOf(decider);
    const last = replacing && events.findLast(({ type }) => replacing.includes(type));
    return async (event) => {
      const isReplaced = event !== last && replacing?.includes(event.type);
      const opened =
        isReplaced || unread?.includes(event.type)
          ? asErasedEvent<E>(catalog, event)
          : await reveal(catalog, asEvent<E>(event));
      return (state) => evolve(state, opened);
    };
  }

  async function fold<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    base: LoadedAggregate<S>,
    events: readonly RecordedEvent[],
  ): Promise<LoadedAggregate<S>> {
    let { state, revision, position } = base;
    // Keys come from another server: they are asked for together, and the events folded in their order.
    const steps = await Promise.all(events.map(folding(kind, events)));
    for (const [index, event] of events.entries()) {
      state = steps[index]!(state);
      ({ revision, position } = event);
      recordCommand(kind, base.keyed, event.metadata, { first: revision, last: revision });
    }
    return { ...base, state, revision, position };
  }

  function remember(stream: string, loaded: LoadedAggregate<unknown>, shown = -1, isBase = false) {
    const current = remembered.peek(stream);
    if (current && current.loaded.revision > loaded.revision) return;
    const newest = Math.max(current?.newest ?? -1, loaded.revision, shown);
    remembered.set(stream, { loaded, newest, isBase });
  }

  const reload: AggregateStore['reload'] = (kind, stream, seeking) => {
    const look = () => hearing.whileReading(stream, (news) => refreshed(kind, news, seeking));
    return seeking ? look() : shared(stream, look);
  };

  async function refreshed<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    news: Invalidation,
    { found, after = Number.POSITIVE_INFINITY }: Partial<Seeking> = {},
  ): Promise<LoadedAggregate<S>> {
    const { stream } = news;
    let loaded =
      (remembered.get(stream)?.loaded as LoadedAggregate<S> | undefined) ?? emptyAggregate(kind.decider.initialState);
    const known = loaded.revision < 0 ? await findReplayStart(log, kind, stream) : loaded.revision + 1;
    const from = Math.min(known, after + 1);
    if (loaded.revision < 0) loaded = { ...loaded, indexedFrom: from };
    const unread = readForward(log, stream, from);
    for (let page = await unread.next(); ; page = await unread.next()) {
      if (page.done) {
        if (page.value === 'deleted') loaded = { ...loaded, deleted: true };
        else if (loaded.revision < 0) return loaded;
        break;
      }
      for (const event of page.value) found?.(event);
      const { revision } = loaded;
      loaded = await fold(
        kind,
        loaded,
        page.value.filter((event) => event.revision > revision),
      );
    }
    if (!news.forgotten) remember(stream, loaded, news.newest);
    return loaded;
  }

  const cached = <S, C, E extends DomainEvent>(_: Aggregate<S, C, E>, stream: string) => {
    const found = remembered.get(stream);
    return found && !found.isBase && found.newest <= found.loaded.revision
      ? (found.loaded as LoadedAggregate<S>)
      : undefined;
  };

  return {
    cached,
    reload,
    remember: (stream, loaded) => remember(stream, loaded),
    seed: (stream, loaded) => remember(stream, loaded, -1, true),
    forget(stream) {
      remembered.delete(stream);
      hearing.forget(stream);
    },
    caches: remembered.caches,

    async load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
      return cached(kind, stream) ?? reload(kind, stream);
    },

    async asOf(kind, stream, revision) {
      let loaded = emptyAggregate(kind.decider.initialState);
      for await (const page of readForward(log, stream, await findReplayStart(log, kind, stream, revision))) {
        const wanted = page.filter((event) => event.revision <= revision);
        loaded = await fold(kind, loaded, wanted);
        if (wanted.length < page.length) break;
      }
      return loaded;
    },

    async withIdempotencyIndex(kind, stream, loaded) {
      const recalled = await indexBefore(log, kind, stream, loaded);
      if (!recalled) return loaded;
      const whole = { ...loaded, ...recalled };
      const current = remembered.peek(stream);
      if (current?.loaded.keyed === loaded.keyed && current.loaded.revision === loaded.revision) {
        remembered.set(stream, { ...current, loaded: whole });
      }
      return whole;
    },

    async eventsOfCommand<S, C, E extends DomainEvent>(
      kind: Aggregate<S, C, E>,
      stream: string,
      { first, last }: CommandRange,
    ) {
      const events = await log.read(stream, { from: first, limit: last - first + 1 });
      if (typeof events === 'string') return [];
      const wanted = events.filter(({ revision }) => revision >= first && revision <= last);
      return kind.blind
        ? wanted.map(asEvent<E>)
        : Promise.all(wanted.map((event) => reveal(kind.catalog, asEvent<E>(event))));
    },

    onEvent({ stream, revision }) {
      const known = remembered.peek(stream);
      if (known && revision > known.newest) known.newest = revision;
      hearing.noteRevision(stream, revision);
    },
  };
}

/** Of a stream without an event. */
export const emptyAggregate = <S>(state: S): LoadedAggregate<S> => ({
  state,
  revision: -1,
  position: 0n,
  keyed: new Map(),
  indexedFrom: 0,
  deleted: false,
});
