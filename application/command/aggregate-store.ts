/**
 * Loads aggregates: from a cache (LRU), or by folding their streams. Cached ones become stale when other nodes append to
 * their streams.
 */
import { LRUCache } from 'lru-cache';
import { type DomainEvent, evolveOf } from '../../domain/shared/index.js';
import { createFreshSingleFlight, estimateBytes, sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { DecryptEvent, EventLog, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { asErasedEvent } from '../secrets/index.js';
import type { Aggregate, AggregateStore, CommandRange, LoadedAggregate, ReloadOptions } from './aggregate.js';
import { asEvent } from './event-envelope.js';
import { findReplayStart, readForward } from './read-stream-pages.js';

/** Bytes of all small aggregates. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** Bytes of all large aggregates: in a cache of their own, so that they do not evict all others. */
const LARGE_BYTES = 192 * 1024 * 1024;
/** Share of the small cache from which an aggregate counts as large. */
const LARGE_SHARE = 1 / 8;
/**
 * Largest share of the large cache that one aggregate is charged. What a whole service decides on stays cached at any
 * size: reading it from the beginning takes longer than a request may.
 */
const MAX_SHARE = 1 / 4;
/** Events decrypted before other work may run; each may be large. */
const DECRYPTED_TOGETHER = 16;

/** Returns the aggregate of a stream without events. */
export const emptyAggregate = <S>(state: S): LoadedAggregate<S> => ({
  state,
  revision: -1,
  position: 0n,
  commands: new Map(),
  deleted: false,
});

/** Adds the events of a keyed command to the idempotency index, and drops commands beyond `maxCount`. */
export function recordCommand(
  { maxCount = Number.POSITIVE_INFINITY }: { readonly maxCount?: number },
  commands: Map<string, CommandRange>,
  { commandId, fingerprint }: { readonly commandId?: string; readonly fingerprint?: string },
  { first, last }: CommandRange,
): void {
  if (commandId && fingerprint) {
    commands.set(commandId, { first: Math.min(first, commands.get(commandId)?.first ?? first), last });
  }
  for (const [oldest, command] of commands) {
    if (command.last > last - maxCount) break;
    commands.delete(oldest);
  }
}

export interface AggregateCacheOptions {
  readonly smallBytes?: number;
  readonly largeBytes?: number;
}

/** A cached aggregate, or the place of one that is being read for the first time. */
interface Entry {
  loaded: LoadedAggregate<unknown> | undefined;
  /** Newest revision seen on the live feed; if it is beyond `loaded`, the entry is stale. */
  newest: number;
  /** The log was not checked for newer events yet. */
  isUnverified: boolean;
}

export function createAggregateStore(
  log: EventLog,
  decrypt: DecryptEvent,
  { smallBytes = SMALL_BYTES, largeBytes = LARGE_BYTES }: AggregateCacheOptions = {},
): AggregateStore {
  const sizeOf = ({ loaded }: Entry, stream: string) => estimateBytes(stream) + estimateBytes(loaded);
  const small = new LRUCache<string, Entry>({ maxSize: smallBytes });
  const large = new LRUCache<string, Entry>({ maxSize: largeBytes });
  /** Real size, not the capped one that eviction uses. */
  const bytesOfLarge = () => [...large.entries()].reduce((sum, [stream, entry]) => sum + sizeOf(entry, stream), 0);
  const singleFlight = createFreshSingleFlight();

  const get = (stream: string) => small.get(stream) ?? large.get(stream);
  /** Does not count as a use. */
  const peek = (stream: string) => small.peek(stream) ?? large.peek(stream);

  function forget(stream: string) {
    small.delete(stream);
    large.delete(stream);
  }

  function put(stream: string, entry: Entry) {
    // Deleted first: the cache measures an entry only when it is added.
    forget(stream);
    const size = sizeOf(entry, stream);
    if (size > smallBytes * LARGE_SHARE) large.set(stream, entry, { size: Math.min(size, largeBytes * MAX_SHARE) });
    else small.set(stream, entry, { size });
    return entry;
  }

  /** Caches a state that is not older than the cached one. */
  function store(stream: string, loaded: LoadedAggregate<unknown>, isUnverified: boolean) {
    const entry = peek(stream) ?? { loaded: undefined, newest: -1, isUnverified };
    if (entry.loaded && entry.loaded.revision > loaded.revision) return;
    Object.assign(entry, { loaded, newest: Math.max(entry.newest, loaded.revision), isUnverified });
    put(stream, entry);
  }

  function fresh<S>(stream: string) {
    const { loaded, newest, isUnverified } = get(stream) ?? {};
    const isFresh = loaded && !isUnverified && newest! <= loaded.revision;
    return isFresh ? (loaded as LoadedAggregate<S>) : undefined;
  }

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
        recordCommand(kind, base.commands, event.metadata, { first: revision, last: revision });
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

  /** Reads and caches an aggregate, unless its stream is erased meanwhile. */
  async function readAndStore<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    options?: ReloadOptions,
  ): Promise<LoadedAggregate<S>> {
    // Notes the events that the live feed delivers during the read.
    const entry = peek(stream) ?? put(stream, { loaded: undefined, newest: -1, isUnverified: true });
    try {
      const loaded = await readTail(kind, stream, options);
      const exists = loaded.revision >= 0 || loaded.deleted;
      if (exists && peek(stream) === entry) store(stream, loaded, false);
      return loaded;
    } finally {
      if (!entry.loaded && peek(stream) === entry) forget(stream);
    }
  }

  const reload: AggregateStore['reload'] = (kind, stream, options) =>
    options ? readAndStore(kind, stream, options) : singleFlight(stream, () => readAndStore(kind, stream));

  async function readTail<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    { onEvent, after = Number.POSITIVE_INFINITY }: Partial<ReloadOptions> = {},
  ): Promise<LoadedAggregate<S>> {
    let loaded = (get(stream)?.loaded as LoadedAggregate<S> | undefined) ?? emptyAggregate(kind.decider.initialState);
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
    cached: (_, stream) => fresh(stream),
    reload,
    remember: (stream, loaded) => store(stream, loaded, false),
    seed: (stream, loaded) => store(stream, loaded, true),
    forget,
    caches: [
      { name: 'streams', limitBytes: smallBytes, bytes: () => small.calculatedSize },
      { name: 'large-streams', limitBytes: largeBytes, bytes: bytesOfLarge },
    ],

    onEvent({ stream, revision }) {
      const entry = peek(stream);
      if (entry) entry.newest = Math.max(entry.newest, revision);
    },

    async load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
      return fresh<S>(stream) ?? reload(kind, stream);
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
