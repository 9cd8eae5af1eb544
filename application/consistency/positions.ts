/** Positions of the log that readers wait for. */
import { LRUCache } from 'lru-cache';
import type { Position } from '../ports/index.js';

/** Milliseconds that a reader waits before it gets `Consistency: pending` (docs/guide/reading.md). */
const READ_TIMEOUT_MS = 2000;
/** Keys tracked individually. The others share the latest evicted position: their readers may wait longer than needed. */
const MAX_KEYS = 10_000;

export const maxPosition = (a: Position, b: Position): Position => (a > b ? a : b);

/** A position that only advances, and those waiting for it. */
export interface PositionTracker {
  position(): Position;
  advance(position: Position): void;
  /** Resolves to true once the position is reached, to false on a timeout. */
  wait(position: Position, timeoutMs?: number): Promise<boolean>;
  hasWaiters(): boolean;
}

export function createPositionTracker(reached: Position = 0n): PositionTracker {
  const waiting = new Set<{ readonly position: Position; readonly wake: () => void }>();
  return {
    position: () => reached,
    advance(position) {
      if (position <= reached) return;
      reached = position;
      for (const waiter of waiting) if (waiter.position <= reached) waiter.wake();
    },
    async wait(position, timeoutMs = READ_TIMEOUT_MS) {
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

/** Last position that this node has acknowledged per key, such as a stream or a channel. */
export interface WritePositions {
  note(key: string, position: Position): void;
  /** Position that readers of a key must see. */
  latest(key: string): Position;
}

export function createWritePositions(): WritePositions {
  let evicted: Position = 0n;
  const positions = new LRUCache<string, Position>({
    max: MAX_KEYS,
    dispose(position, _, reason) {
      if (reason === 'evict') evicted = maxPosition(evicted, position);
    },
  });
  return {
    note: (key, position) => void positions.set(key, maxPosition(positions.peek(key) ?? 0n, position)),
    latest: (key) => positions.peek(key) ?? evicted,
  };
}
