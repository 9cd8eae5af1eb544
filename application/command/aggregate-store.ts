/** Loads aggregates: from the cache, or by folding their streams. */
import {
  type Catalog,
  type Decider,
  type DomainEvent,
  type EventSpec,
  evolveOf,
  type Rejection,
} from '../../domain/shared/index.js';
import { createFreshSingleFlight, sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { Cache, DecryptEvent, EventLog, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { asErasedEvent } from '../secrets/index.js';
import {
  type AggregateCacheOptions,
  type CommandRange,
  createAggregateCache,
  emptyAggregate,
  type LoadedAggregate,
  recordCommand,
} from './aggregate-cache.js';
import { asEvent } from './event-envelope.js';
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

/** Events decrypted before other work may run; each may be large. */
const DECRYPTED_TOGETHER = 16;

export function createAggregateStore(
  log: EventLog,
  decrypt: DecryptEvent,
  cacheOptions?: AggregateCacheOptions,
): AggregateStore {
  const cache = createAggregateCache(cacheOptions);
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

  const reload: AggregateStore['reload'] = (kind, stream, options) => {
    const read = () => cache.readThrough(stream, () => readTail(kind, stream, options));
    return options ? read() : singleFlight(stream, read);
  };

  async function readTail<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    { onEvent, after = Number.POSITIVE_INFINITY }: Partial<ReloadOptions> = {},
  ): Promise<LoadedAggregate<S>> {
    let loaded = cache.latest<S>(stream) ?? emptyAggregate(kind.decider.initialState);
    const next = loaded.revision < 0 ? await findReplayStart(log, kind, stream) : loaded.revision + 1;
    const pages = readForward(log, stream, Math.min(next, after + 1));
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) {
      for (const event of page.value) onEvent?.(event);
      const { revision } = loaded;
      const newer = page.value.filter((event) => event.revision > revision);
      loaded = await fold(kind, loaded, newer);
    }
    return page.value === 'deleted' ? { ...loaded, deleted: true } : loaded;
  }

  return {
    cached: (_, stream) => cache.fresh(stream),
    reload,
    remember: (stream, loaded) => cache.set(stream, loaded, false),
    seed: (stream, loaded) => cache.set(stream, loaded, true),
    onEvent: cache.onEvent,
    forget: cache.forget,
    caches: cache.caches,

    async load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
      return cache.fresh<S>(stream) ?? reload(kind, stream);
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
  };
}
