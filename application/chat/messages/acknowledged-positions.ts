/** What this node has acknowledged of what is said in each channel: its readers are owed it. */
import { LRUCache } from 'lru-cache';
import { maxPosition } from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';

/** Channels whose last event is known by itself; of all others only the latest is, and is waited for. */
const MOST = 10_000;

export interface WritePositions {
  note(channelId: string, position: Position): void;
  /** The last position that this node has told a caller of something in the channel. */
  latest(channelId: string): Position;
}

export function createWritePositions(most = MOST): WritePositions {
  let forgotten: Position = 0n;
  const known = new LRUCache<string, Position>({
    max: most,
    dispose(position, _, reason) {
      if (reason === 'evict') forgotten = maxPosition(forgotten, position);
    },
  });
  return {
    note: (channelId, position) => void known.set(channelId, maxPosition(known.get(channelId) ?? 0n, position)),
    latest: (channelId) => known.get(channelId) ?? forgotten,
  };
}
