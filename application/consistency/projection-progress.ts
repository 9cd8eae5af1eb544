/** Tracks what this node has appended and what its projections have applied; waits for projections to catch up. */
import { LRUCache } from 'lru-cache';
import { serviceOf } from '../../domain/shared/index.js';
import type { Position, ProjectionProgress } from '../ports/index.js';

/** Milliseconds that a reader waits before it gets `Consistency: pending` (docs/guide/reading.md). */
const READ_TIMEOUT_MS = 2000;
/** Keys remembered. Evicted ones share their latest position: their readers may wait longer than needed. */
const MAX_KEYS = 20_000;

export const maxPosition = (a: Position, b: Position): Position => (a > b ? a : b);

type PositionTracker = ReturnType<typeof createPositionTracker>;

/** A position that only advances, and those waiting for it. */
export function createPositionTracker(reached: Position = 0n) {
  const waiting = new Set<{ readonly position: Position; readonly wake: () => void }>();
  return {
    position: () => reached,
    advance(position: Position) {
      if (position <= reached) return;
      reached = position;
      for (const waiter of waiting) if (waiter.position <= reached) waiter.wake();
    },
    /** Resolves to true once the position is reached, to false on a timeout. */
    async wait(position: Position, timeoutMs = READ_TIMEOUT_MS): Promise<boolean> {
      if (reached >= position) return true;
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer);
          waiting.delete(waiter);
          resolve();
        };
        const waiter = { position, wake };
        const timer = setTimeout(wake, timeoutMs);
        waiting.add(waiter);
      });
      return reached >= position;
    },
    hasWaiters: () => waiting.size > 0,
  };
}

export type WritePositions = ReturnType<typeof createWritePositions>;

/** Last position that this node has acknowledged per key, such as a stream or a channel. */
export function createWritePositions() {
  /** Latest position of an evicted key. */
  let evicted: Position = 0n;
  const positions = new LRUCache<string, Position>({
    max: MAX_KEYS,
    dispose(position, _, reason) {
      if (reason === 'evict') evicted = maxPosition(evicted, position);
    },
  });
  return {
    note: (key: string, position: Position) =>
      void positions.set(key, maxPosition(positions.peek(key) ?? 0n, position)),
    /** Position that readers of a key must see. */
    latest: (key: string): Position => positions.peek(key) ?? evicted,
  };
}

const POLL_MS = 25;
/** Polls skipped after a report of the node's own projector, which is assumed to go on: half a second. */
const SKIPPED_POLLS = 20;

export interface ProjectionProgressTracker extends ProjectionProgress {
  appended(stream: string, position: Position): void;
  /** Records the last event of a service when this node started, which every reader must see. */
  startedAt(service: string, position: Position): void;
  /** Whether a projection has reached the end of the log as of the start of this node. */
  caughtUp(projection: string): Promise<boolean>;
  advanced(projection: string, position: Position): void;
  /**
   * Debounces a projector: resolves after `ms`, or immediately while a reader waits for one of its projections. Batches
   * are large without readers, and rows are current with them.
   */
  debounceUntilAwaited(projections: readonly string[], ms: number): Promise<void>;
}

interface Progress {
  readonly applied: PositionTracker;
  flush?: (() => void) | undefined;
  isPolled: boolean;
  pollsToSkip: number;
}

interface ServiceWrites {
  readonly byStream: WritePositions;
  newest: Position;
  /** End of the log when this node started. */
  startedAt?: Position;
}

/** @param stored Reads the checkpoint of a projection, which another node may be running. */
export function createProjectionProgress(
  stored: (projection: string) => Promise<Position | undefined>,
): ProjectionProgressTracker {
  const byProjection = new Map<string, Progress>();
  const byService = new Map<string, ServiceWrites>();

  function progressOf(projection: string): Progress {
    let progress = byProjection.get(projection);
    progress ??= { applied: createPositionTracker(), isPolled: false, pollsToSkip: 0 };
    byProjection.set(projection, progress);
    return progress;
  }

  function writesOf(service: string): ServiceWrites {
    const writes = byService.get(service) ?? { byStream: createWritePositions(), newest: 0n };
    byService.set(service, writes);
    return writes;
  }

  /** Polls the checkpoint of a projection for all its waiters, as long as there are any. */
  function poll(projection: string, progress: Progress) {
    if (progress.isPolled) return;
    progress.isPolled = true;
    const timer = setInterval(() => {
      if (!progress.applied.hasWaiters()) {
        clearInterval(timer);
        progress.isPolled = false;
      } else if (progress.pollsToSkip > 0) progress.pollsToSkip--;
      else
        stored(projection)
          .then((at = 0n) => progress.applied.advance(at))
          .catch(() => {});
    }, POLL_MS);
  }

  return {
    advanced(projection, position) {
      const progress = progressOf(projection);
      progress.pollsToSkip = SKIPPED_POLLS;
      progress.applied.advance(position);
    },
    startedAt(service, position) {
      writesOf(service).startedAt = position;
    },

    async caughtUp(projection) {
      const { startedAt } = writesOf(serviceOf(projection));
      if (startedAt === undefined) return false;
      const { applied } = progressOf(projection);
      if (applied.position() < startedAt) applied.advance((await stored(projection)) ?? 0n);
      return applied.position() >= startedAt;
    },

    position: (projection) => progressOf(projection).applied.position(),
    appended(stream, position) {
      const writes = writesOf(serviceOf(stream));
      writes.newest = maxPosition(writes.newest, position);
      writes.byStream.note(stream, position);
    },
    latest: (streams) =>
      streams.map((stream) => writesOf(serviceOf(stream)).byStream.latest(stream)).reduce(maxPosition, 0n),
    latestOf: (service) => writesOf(service).newest,

    debounceUntilAwaited(projections, ms) {
      const all = projections.map(progressOf);
      if (all.some(({ applied }) => applied.hasWaiters())) return Promise.resolve();
      return new Promise((resolve) => {
        const flush = () => {
          clearTimeout(timer);
          for (const each of all) each.flush = undefined;
          resolve();
        };
        const timer = setTimeout(flush, ms);
        for (const each of all) each.flush = flush;
      });
    },

    wait(projection, required, timeoutMs) {
      const progress = progressOf(projection);
      const { startedAt = 0n } = writesOf(serviceOf(projection));
      const outcome = progress.applied.wait(maxPosition(required, startedAt), timeoutMs);
      if (progress.applied.hasWaiters()) {
        poll(projection, progress);
        progress.flush?.();
      }
      return outcome;
    },
  };
}
