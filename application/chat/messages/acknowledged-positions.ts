/** Tracks the last log position this node has acknowledged per channel, for read-your-writes. */
import { LRUCache } from 'lru-cache';
import { maxPosition } from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';

/**
 * Channels tracked individually. The others share the latest evicted position, so their readers may wait longer than
 * needed.
 */
const MAX_CHANNELS = 10_000;

export interface WritePositions {
  note(channelId: string, position: Position): void;
  /** Position of the last write in the channel that this node has acknowledged to a client. */
  latest(channelId: string): Position;
}

export function createWritePositions(maxChannels = MAX_CHANNELS): WritePositions {
  let evictedPosition: Position = 0n;
  const positions = new LRUCache<string, Position>({
    max: maxChannels,
    dispose(position, _, reason) {
      if (reason === 'evict') evictedPosition = maxPosition(evictedPosition, position);
    },
  });
  return {
    note: (channelId, position) => void positions.set(channelId, maxPosition(positions.get(channelId) ?? 0n, position)),
    latest: (channelId) => positions.get(channelId) ?? evictedPosition,
  };
}
