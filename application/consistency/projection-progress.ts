/** Tracks what this node has appended and what its projections have applied; waits for projections to catch up. */
import { serviceOf } from '../../domain/shared/index.js';
import type { Position, ProjectionProgress } from '../ports/index.js';

/** Milliseconds that a reader waits before it gets `Consistency: pending` (docs/guide/reading.md). */
export const READ_TIMEOUT_MS = 2000;
const POLL_MS = 25;
/** Polls skipped after a report of the node's own projector, which is assumed to go on: half a second. */
const SKIPPED_POLLS = 20;
/**
 * Streams per service with a tracked last append. For other streams, readers wait for the latest append to any of
 * them.
 */
const MAX_PENDING = 10_000;

export interface ProjectionProgressTracker extends ProjectionProgress {
  /** Records an acknowledged append of this node. */
  appended(stream: string, position: Position): void;
  /** Records the last event of a service when this node started, which every reader must see. */
  startedAt(service: string, position: Position): void;
  /** Whether a projection has reached the end of the log as of the start of this node. */
  caughtUp(projection: string): Promise<boolean>;
  /** Records that a projection has applied everything up to here. */
  advanced(projection: string, position: Position): void;
  /**
   * Debounces a projector: resolves after `ms`, or immediately while a reader waits for one of its projections. Batches
   * are large without readers, and rows are current with them.
   */
  debounceUntilAwaited(projections: readonly string[], ms: number): Promise<void>;
}

/** @param stored Reads the checkpoint of a projection, which another node may be running. */
export function createProjectionProgress(
  projections: readonly string[],
  stored: (projection: string) => Promise<Position | undefined>,
): ProjectionProgressTracker {
  /** Last append by service and stream, until all projections have applied it. */
  const pending = new Map<string, Map<string, Position>>();
  /** By service: last append to a stream that is no longer in `pending`. */
  const untracked = new Map<string, Position>();
  /** By service: last append. */
  const newest = new Map<string, Position>();
  /** By projection: position up to which events are applied. */
  const applied = new Map<string, Position>();
  /** By service: end of the log when this node started. */
  const startPositions = new Map<string, Position>();
  const waiting = new Map<string, Set<{ position: Position; wake: () => void }>>();
  /** By projection: ends its current debounce. */
  const flushes = new Map<string, () => void>();
  const polling = new Set<string>();
  /** By projection: polls still to be skipped, because this node's own projector has reported recently. */
  const pollsToSkip = new Map<string, number>();

  const hasApplied = (projection: string, position: Position) => (applied.get(projection) ?? 0n) >= position;

  /** Returns the position that all projections of a service have applied. */
  function appliedByAll(service: string): Position {
    let lowest: Position | undefined;
    for (const each of projections) {
      const at = applied.get(each) ?? 0n;
      if (serviceOf(each) === service && (lowest === undefined || at < lowest)) lowest = at;
    }
    return lowest ?? 0n;
  }

  const pendingOf = (service: string) => {
    const streams = pending.get(service) ?? new Map<string, Position>();
    pending.set(service, streams);
    return streams;
  };

  const advance = (projection: string, position: Position) => {
    if (hasApplied(projection, position)) return;
    const service = serviceOf(projection);
    const before = appliedByAll(service);
    applied.set(projection, position);
    const after = appliedByAll(service);
    // Scans only on progress: with one projection stuck, thousands may be pending while others report every batch.
    if (after > before)
      for (const [stream, at] of pendingOf(service)) if (at <= after) pendingOf(service).delete(stream);
    for (const waiter of waiting.get(projection) ?? []) if (waiter.position <= position) waiter.wake();
  };

  /** Polls the checkpoint of a projection for all its waiters, as long as there are any. */
  function poll(projection: string, waiters: ReadonlySet<unknown>) {
    if (polling.has(projection)) return;
    const timer = setInterval(() => {
      if (waiters.size === 0) {
        clearInterval(timer);
        polling.delete(projection);
        return;
      }
      const toSkip = pollsToSkip.get(projection) ?? 0;
      if (toSkip > 0) return void pollsToSkip.set(projection, toSkip - 1);
      stored(projection)
        .then((at) => at !== undefined && advance(projection, at))
        .catch(() => {});
    }, POLL_MS);
    polling.add(projection);
  }

  return {
    advanced(projection, position) {
      pollsToSkip.set(projection, SKIPPED_POLLS);
      advance(projection, position);
    },
    startedAt: (service, position) => void startPositions.set(service, position),

    async caughtUp(projection) {
      const startPosition = startPositions.get(serviceOf(projection));
      if (startPosition === undefined) return false;
      if (!hasApplied(projection, startPosition)) advance(projection, (await stored(projection)) ?? 0n);
      return hasApplied(projection, startPosition);
    },

    position: (projection) => applied.get(projection) ?? 0n,
    appended(stream, position) {
      const service = serviceOf(stream);
      if (position > (newest.get(service) ?? 0n)) newest.set(service, position);
      const streams = pendingOf(service);
      const previous = streams.get(stream) ?? 0n;
      // Deleting it first moves the stream to the end of the insertion order.
      streams.delete(stream);
      streams.set(stream, position > previous ? position : previous);
      const [oldest] = streams;
      if (streams.size <= MAX_PENDING || !oldest) return;
      streams.delete(oldest[0]);
      if (oldest[1] > (untracked.get(service) ?? 0n)) untracked.set(service, oldest[1]);
    },

    latest(streams) {
      let latest = 0n;
      for (const stream of streams) {
        const service = serviceOf(stream);
        const at = pending.get(service)?.get(stream) ?? untracked.get(service) ?? 0n;
        if (at > latest) latest = at;
      }
      return latest;
    },

    latestOf: (service) => newest.get(service) ?? 0n,

    debounceUntilAwaited(names, ms) {
      if (names.some((each) => (waiting.get(each)?.size ?? 0) > 0)) return Promise.resolve();
      return new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          for (const each of names) flushes.delete(each);
          resolve();
        };
        const timer = setTimeout(done, ms);
        for (const each of names) flushes.set(each, done);
      });
    },

    async wait(projection, required, timeoutMs = READ_TIMEOUT_MS) {
      const startPosition = startPositions.get(serviceOf(projection)) ?? 0n;
      const position = required > startPosition ? required : startPosition;
      if (hasApplied(projection, position)) return true;
      const waiters = waiting.get(projection) ?? new Set();
      waiting.set(projection, waiters);
      poll(projection, waiters);
      await new Promise<void>((resolve) => {
        const waiter = { position, wake: () => done() };
        const timeout = setTimeout(() => done(), timeoutMs);
        const done = () => {
          clearTimeout(timeout);
          waiters.delete(waiter);
          resolve();
        };
        waiters.add(waiter);
        flushes.get(projection)?.();
      });
      return hasApplied(projection, position);
    },
  };
}
