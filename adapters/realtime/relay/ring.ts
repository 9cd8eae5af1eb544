/** A ring buffer of recent items for clients that resume or read slowly, bounded in number and bytes. */
import type { Position } from '../../../application/ports/index.js';

export const RING_BYTES = 8 * 1024 * 1024;

export interface RingItem {
  readonly position: Position;
  /** Approximate bytes in memory. */
  readonly bytes: number;
}

export interface Ring<Item extends RingItem> {
  /** Items up to here may be missing: dropped, or never received. */
  readonly horizon: Position;
  readonly bytes: number;
  /** Adds an item. Positions must grow. */
  push(item: Item): void;
  after(position: Position): Item | undefined;
  since(position: Position): readonly Item[];
  revise(change: (item: Item) => Item | undefined): void;
  /** Removes all items and moves the horizon to `upTo`. */
  clear(upTo: Position): void;
}

export interface RingOptions {
  readonly items: number;
  readonly bytes: number;
  /** Position up to which nothing was received; everything after it will be pushed. */
  readonly from: Position;
}

export function createRing<Item extends RingItem>(limits: RingOptions): Ring<Item> {
  let items: (Item | undefined)[] = [];
  /** Index of the oldest item. Entries before it are empty and are removed now and then. */
  let start = 0;
  let bytes = 0;
  let horizon = limits.from;

  function indexAfter(position: Position): number {
    let [low, high] = [start, items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (items[middle]!.position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    get horizon() {
      return horizon;
    },
    get bytes() {
      return bytes;
    },

    push(item) {
      items.push(item);
      bytes += item.bytes;
      while (items.length - start > limits.items || (bytes > limits.bytes && items.length - start > 1)) {
        const dropped = items[start]!;
        items[start++] = undefined;
        bytes -= dropped.bytes;
        horizon = dropped.position;
      }
      if (start > limits.items) [items, start] = [items.slice(start), 0];
    },

    after: (position) => items[indexAfter(position)],
    since: (position) => items.slice(indexAfter(position)) as Item[],

    revise(change) {
      const changed = (items.slice(start) as Item[]).flatMap((item) => change(item) ?? []);
      [items, start] = [changed, 0];
      bytes = changed.reduce((sum, item) => sum + item.bytes, 0);
    },

    clear(upTo) {
      [items, start, bytes, horizon] = [[], 0, 0, upTo];
    },
  };
}
