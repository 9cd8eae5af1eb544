/** Port of the stored transparency log: its tiles, and its head. It cannot be rebuilt from a scavenged log. */
import type { Position } from '../ports/index.js';
import type { ReadTile, WrittenTile } from './tiles.js';

export interface TreeHead {
  /** Entries of the tree. */
  readonly size: number;
  /** Log position up to which events are in the tree; 0 before the first. */
  readonly position: Position;
  /** Newest signed checkpoint; undefined until it is signed, as after `truncate`. */
  readonly checkpoint?: string | undefined;
  /** Newest checkpoint that witnesses have cosigned. */
  readonly cosigned?: string | undefined;
  /** The key that signs, as the last key entry has it. */
  readonly key: string;
  /** Number of the key in force, from 1; `annals audit rotate` increments it. */
  readonly keyNumber: number;
  /** Restart entries, oldest first. */
  readonly restarts: readonly Restart[];
}

export interface Restart {
  /** Index of its entry. */
  readonly index: number;
  /** Earlier entries after this position are of events that the log lost. */
  readonly position: Position;
}

export interface StoredTile extends WrittenTile {
  /** Of a bundle: position of its first event. */
  readonly first?: Position | undefined;
}

/** Every method rejects with `UnavailableError` if the store is unavailable. */
export interface TreeStore {
  head(): Promise<TreeHead | undefined>;
  readonly readTile: ReadTile;
  /** Writes the tiles, then the head. A tile or head that has grown further is left alone: its start is the same. */
  append(tiles: readonly StoredTile[], head: Omit<TreeHead, 'keyNumber' | 'cosigned'>): Promise<void>;
  /** Sets the newest cosigned checkpoint. */
  setCosigned(checkpoint: string): Promise<void>;
  /** Puts the next key in force. */
  nextKey(): Promise<void>;
  /** Index of the bundle that has, or would have, the event at this position; undefined before all. */
  findBundle(position: Position): Promise<number | undefined>;
  /** Forgets entries from an index on, in a copy whose log is shorter. */
  truncate(size: number, position: Position): Promise<void>;
}
