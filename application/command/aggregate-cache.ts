/** Caches aggregates (LRU), and marks them stale when other nodes append to their streams. */
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../concurrency/index.js';
import type { Cache, Position, RecordedEvent } from '../ports/index.js';

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
  readonly keyed: Map<string, CommandRange>;
  readonly deleted: boolean;
}

/** Returns the aggregate of a stream without events. */
export const emptyAggregate = <S>(state: S): LoadedAggregate<S> => ({
  state,
  revision: -1,
  position: 0n,
  keyed: new Map(),
  deleted: false,
});

/** Adds the events of a keyed command to the idempotency index, and drops commands beyond `maxCount`. */
export function recordCommand(
  { maxCount = Number.POSITIVE_INFINITY }: { readonly maxCount?: number },
  keyed: Map<string, CommandRange>,
  { commandId, fingerprint }: { readonly commandId?: string; readonly fingerprint?: string },
  { first, last }: CommandRange,
): void {
  if (commandId && fingerprint) {
    keyed.set(commandId, { first: Math.min(first, keyed.get(commandId)?.first ?? first), last });
  }
  for (const [oldest, command] of keyed) {
    if (command.last > last - maxCount) break;
    keyed.delete(oldest);
  }
}

export interface AggregateCacheOptions {
  readonly smallBytes?: number;
  readonly largeBytes?: number;
}

interface Entry {
  readonly loaded: LoadedAggregate<unknown>;
  /** Newest revision seen on the live feed; if it is beyond `loaded`, the entry is stale. */
  newest: number;
  /** The log was not checked for newer events yet. */
  readonly isUnverified: boolean;
}

/** A read in progress of a stream that may not be cached yet. */
interface Read {
  /** Newest revision seen on the live feed during the read; -1 for none. */
  newest: number;
  /** The stream was erased during the read: its state must not be cached. */
  isForgotten: boolean;
}

export interface AggregateCache {
  /** Returns an aggregate unless it is stale. */
  fresh<S>(stream: string): LoadedAggregate<S> | undefined;
  /** Returns an aggregate, perhaps stale. */
  latest<S>(stream: string): LoadedAggregate<S> | undefined;
  /** Caches a state that is not older than the cached one; `isUnverified`: newer events may be in the log. */
  set(stream: string, loaded: LoadedAggregate<unknown>, isUnverified: boolean): void;
  /** Caches the result of a read, with what the live feed delivers during it. */
  readThrough<S>(stream: string, read: () => Promise<LoadedAggregate<S>>): Promise<LoadedAggregate<S>>;
  /** Call it with every event of the live feed. */
  onEvent(event: Pick<RecordedEvent, 'stream' | 'revision'>): void;
  forget(stream: string): void;
  /** For metrics: the small and the large cache. */
  readonly caches: readonly [Cache, Cache];
}

export function createAggregateCache({
  smallBytes = SMALL_BYTES,
  largeBytes = LARGE_BYTES,
}: AggregateCacheOptions = {}): AggregateCache {
  const sizeOf = ({ loaded }: Entry, stream: string) => estimateBytes(stream) + estimateBytes(loaded);
  const small = new LRUCache<string, Entry>({ maxSize: smallBytes, sizeCalculation: sizeOf });
  const large = new LRUCache<string, Entry>({
    maxSize: largeBytes,
    sizeCalculation: (entry, stream) => Math.min(sizeOf(entry, stream), largeBytes * MAX_SHARE),
  });
  /** Real size, not the capped one that eviction uses. */
  const bytesOfLarge = () => [...large.entries()].reduce((sum, [stream, entry]) => sum + sizeOf(entry, stream), 0);
  const reads = new Map<string, Set<Read>>();

  const get = (stream: string) => small.get(stream) ?? large.get(stream);
  /** Does not count as a use. */
  const peek = (stream: string) => small.peek(stream) ?? large.peek(stream);

  function store(stream: string, loaded: LoadedAggregate<unknown>, newestSeen: number, isUnverified: boolean) {
    const current = peek(stream);
    if (current && current.loaded.revision > loaded.revision) return;
    const newest = Math.max(current?.newest ?? -1, loaded.revision, newestSeen);
    const entry = { loaded, newest, isUnverified };
    const isLarge = sizeOf(entry, stream) > smallBytes * LARGE_SHARE;
    (isLarge ? small : large).delete(stream);
    (isLarge ? large : small).set(stream, entry);
  }

  return {
    fresh<S>(stream: string) {
      const entry = get(stream);
      const isFresh = entry && !entry.isUnverified && entry.newest <= entry.loaded.revision;
      return isFresh ? (entry.loaded as LoadedAggregate<S>) : undefined;
    },
    latest: <S>(stream: string) => get(stream)?.loaded as LoadedAggregate<S> | undefined,
    set: (stream, loaded, isUnverified) => store(stream, loaded, -1, isUnverified),

    async readThrough(stream, read) {
      const own: Read = { newest: -1, isForgotten: false };
      const all = reads.get(stream) ?? new Set();
      reads.set(stream, all.add(own));
      try {
        const loaded = await read();
        const exists = loaded.revision >= 0 || loaded.deleted;
        if (exists && !own.isForgotten) store(stream, loaded, own.newest, false);
        return loaded;
      } finally {
        all.delete(own);
        if (all.size === 0) reads.delete(stream);
      }
    },

    onEvent({ stream, revision }) {
      const entry = peek(stream);
      if (entry) entry.newest = Math.max(entry.newest, revision);
      for (const read of reads.get(stream) ?? []) read.newest = Math.max(read.newest, revision);
    },
    forget(stream) {
      small.delete(stream);
      large.delete(stream);
      for (const read of reads.get(stream) ?? []) read.isForgotten = true;
    },
    caches: [
      { name: 'streams', limitBytes: smallBytes, bytes: () => small.calculatedSize },
      { name: 'large-streams', limitBytes: largeBytes, bytes: bytesOfLarge },
    ],
  };
}
