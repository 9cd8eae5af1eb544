/** Loads aggregates by folding their streams, and caches them so that busy streams are not read again. */
import {
  type Catalog,
  type Decider,
  type DomainEvent,
  type EventSpec,
  evolveOf,
  type Rejection,
} from '../../domain/shared/index.js';
import { createFreshSingleFlight, sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { Cache, DecryptEvent, EventLog, Position, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { asErasedEvent } from '../secrets/index.js';
import { type AggregateCacheOptions, createAggregateCache } from './aggregate-cache.js';
import { asEvent } from './event-guards.js';
import { type CommandRange, recordCommand } from './idempotency-index.js';
import { createReadInvalidation, type Invalidation } from './read-invalidation.js';
import { findReplayStart, readForward } from './read-stream-pages.js';

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

export interface Termination<State> {
  /** Result of every command after the end, or once the stream is deleted. */
  readonly rejection: Rejection;
  /** Whether an event has ended the subject. */
  isEnded?(state: State): boolean;
  /** When the subject expires, Unix ms. */
  endsAt?(state: State): number;
}

export interface LoadedAggregate<State> {
  readonly state: State;
  /** Last revision folded in; -1 for a stream without events. */
  readonly revision: number;
  /** Position of that event; 0 for a stream without events. */
  readonly position: Position;
  /** Idempotency index by command id. Shared by all loaded versions of a stream: it only records what is in the log. */
  readonly keyed: Map<string, CommandRange>;
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

interface CacheEntry {
  loaded: LoadedAggregate<unknown>;
  /** Newest revision seen on the live feed; if it is beyond `loaded`, the tail is read before use. */
  newest: number;
  /** The log was not checked for newer events yet. */
  readonly isUnverified?: boolean;
}

/** Events decrypted before other work may run; each may be large. */
const DECRYPTED_TOGETHER = 16;

export function createAggregateStore(
  log: EventLog,
  decrypt: DecryptEvent,
  cacheOptions?: AggregateCacheOptions,
): AggregateStore {
  const cache = createAggregateCache<CacheEntry>(({ loaded }) => loaded, cacheOptions);
  const invalidations = createReadInvalidation();
  const singleFlight = createFreshSingleFlight();

  async function fold<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    base: LoadedAggregate<S>,
    events: readonly RecordedEvent[],
  ): Promise<LoadedAggregate<S>> {
    const evolve = evolveOf<S, E>(kind.decider);
    let { state, revision, position } = base;
    for (let from = 0; from < events.length; from += DECRYPTED_TOGETHER) {
      if (from > 0 && sliceExpired()) await yieldToEventLoop();
      // Decrypts in parallel, because keys come from another server; folds in order.
      const part = events.slice(from, from + DECRYPTED_TOGETHER);
      for (const event of await Promise.all(part.map((each) => decryptIfRead(kind, each)))) {
        state = evolve(state, event);
        ({ revision, position } = event);
        recordCommand(kind, base.keyed, event.metadata, { first: revision, last: revision });
      }
    }
    return { ...base, state, revision, position };
  }

  async function decryptIfRead<S, C, E extends DomainEvent>(
    { catalog, decrypts = 'all' }: Aggregate<S, C, E>,
    event: RecordedEvent,
  ): Promise<RevealedEvent<E>> {
    const isRead = decrypts === 'all' || (decrypts !== 'none' && decrypts.includes(event.type));
    return isRead ? decrypt(catalog, asEvent<E>(event)) : asErasedEvent<E>(catalog, event);
  }

  function remember(stream: string, loaded: LoadedAggregate<unknown>, newestSeen = -1, isUnverified = false) {
    const current = cache.peek(stream);
    if (current && current.loaded.revision > loaded.revision) return;
    const newest = Math.max(current?.newest ?? -1, loaded.revision, newestSeen);
    cache.set(stream, { loaded, newest, isUnverified });
  }

  const reload: AggregateStore['reload'] = (kind, stream, options) => {
    const read = () => invalidations.whileReading(stream, (invalidation) => readTail(kind, invalidation, options));
    return options ? read() : singleFlight(stream, read);
  };

  async function readTail<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    invalidation: Invalidation,
    { onEvent, after = Number.POSITIVE_INFINITY }: Partial<ReloadOptions> = {},
  ): Promise<LoadedAggregate<S>> {
    const { stream } = invalidation;
    let loaded =
      (cache.get(stream)?.loaded as LoadedAggregate<S> | undefined) ?? emptyAggregate(kind.decider.initialState);
    const next = loaded.revision < 0 ? await findReplayStart(log, kind, stream) : loaded.revision + 1;
    const from = Math.min(next, after + 1);
    const pages = readForward(log, stream, from);
    for (let page = await pages.next(); ; page = await pages.next()) {
      if (page.done) {
        if (page.value === 'deleted') loaded = { ...loaded, deleted: true };
        else if (loaded.revision < 0) return loaded;
        break;
      }
      for (const event of page.value) onEvent?.(event);
      const { revision } = loaded;
      loaded = await fold(
        kind,
        loaded,
        page.value.filter((event) => event.revision > revision),
      );
    }
    if (!invalidation.forgotten) remember(stream, loaded, invalidation.newest);
    return loaded;
  }

  const cached = <S, C, E extends DomainEvent>(_: Aggregate<S, C, E>, stream: string) => {
    const entry = cache.get(stream);
    return entry && !entry.isUnverified && entry.newest <= entry.loaded.revision
      ? (entry.loaded as LoadedAggregate<S>)
      : undefined;
  };

  return {
    cached,
    reload,
    remember: (stream, loaded) => remember(stream, loaded),
    seed: (stream, loaded) => remember(stream, loaded, -1, true),
    forget(stream) {
      cache.delete(stream);
      invalidations.forget(stream);
    },
    caches: cache.caches,

    async load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
      return cached(kind, stream) ?? reload(kind, stream);
    },

    async asOf(kind, stream, revision) {
      let loaded = emptyAggregate(kind.decider.initialState);
      for await (const page of readForward(log, stream, await findReplayStart(log, kind, stream, revision))) {
        const events = page.filter((event) => event.revision <= revision);
        loaded = await fold(kind, loaded, events);
        if (events.length < page.length) break;
      }
      return loaded;
    },

    async eventsOfCommand<S, C, E extends DomainEvent>(
      kind: Aggregate<S, C, E>,
      stream: string,
      { first, last }: CommandRange,
    ) {
      const page = await log.read(stream, { from: first, limit: last - first + 1 });
      if (typeof page === 'string') return [];
      const events = page.filter(({ revision }) => revision >= first && revision <= last);
      return Promise.all(events.map((event) => decrypt(kind.catalog, asEvent<E>(event))));
    },

    onEvent({ stream, revision }) {
      const entry = cache.peek(stream);
      if (entry && revision > entry.newest) entry.newest = revision;
      invalidations.noteRevision(stream, revision);
    },
  };
}

/** Returns the aggregate of a stream without events. */
export const emptyAggregate = <S>(state: S): LoadedAggregate<S> => ({
  state,
  revision: -1,
  position: 0n,
  keyed: new Map(),
  deleted: false,
});
