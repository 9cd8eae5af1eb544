/** Positions of the log that readers wait for. */
import type { Position } from '../ports/index.js';

/** Milliseconds that a reader waits before it gets `Consistency: pending` (docs/guide/reading.md). */
const READ_TIMEOUT_MS = 2000;
/** Keys of a generation. Dropped ones share their latest position: their readers may wait longer than needed. */
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

/** Keeps two generations of keys; the older one is dropped when the newer one is full. */
export function createWritePositions(): WritePositions {
  let recent = new Map<string, Position>();
  let older = new Map<string, Position>();
  /** Latest position of a dropped key. */
  let dropped: Position = 0n;
  return {
    note(key, position) {
      recent.set(key, maxPosition(recent.get(key) ?? older.get(key) ?? 0n, position));
      if (recent.size < MAX_KEYS) return;
      dropped = [...older.values()].reduce(maxPosition, dropped);
      [older, recent] = [recent, new Map()];
    },
    latest: (key) => recent.get(key) ?? older.get(key) ?? dropped,
  };
}
