/** What one request holds of the room for bodies. */
import type { BodyRoom } from './route.js';

export interface Held {
  /** False when there is no room for so many bytes more. */
  take(bytes: number): boolean;
  give(bytes: number): void;
  /** Gives back all that is left. */
  release(): void;
}

/** `whose` share it counts for. Without a room, bodies are small and nobody counts. */
export function hold(room: BodyRoom | undefined, whose: string): Held {
  let held = 0;
  return {
    take(bytes) {
      if (room && !room.take(bytes, whose)) return false;
      held += bytes;
      return true;
    },
    give(bytes) {
      held -= bytes;
      room?.give(bytes, whose);
    },
    release() {
      room?.give(held, whose);
      held = 0;
    },
  };
}
