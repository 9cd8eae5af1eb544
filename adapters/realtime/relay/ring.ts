/** What was told last, for clients that come back or read slowly: bounded in number and bytes, by position. */
import type { Position } from '../../../application/ports/index.js';

/** What a ring holds at most, whatever its items are. */
export const RING_BYTES = 8 * 1024 * 1024;

export interface RingItem {
  readonly position: Position;
  /** What it holds in memory, roughly. */
  readonly bytes: number;
}

export interface Ring<Item extends RingItem> {
  /** Up to here something may have been let go, or was never here. */
  readonly horizon: Position;
  /** What is kept, in bytes. */
  readonly bytes: number;
  /** Positions must grow. */
  push(item: Item): void;
  /** The oldest item after a position. */
  after(position: Position): Item | undefined;
  /** Everything after a position, oldest first. */
  since(position: Position): readonly Item[];
  /** Lets go of items, or parts of them, before their time. */
  revise(change: (item: Item) => Item | undefined): void;
  /** Lets go of everything: up to this position there is nothing to come back to. */
  clear(upTo: Position): void;
}

export interface RingOptions {
  /** The most that is kept. */
  readonly items: number;
  readonly bytes: number;
  /** The position up to which nothing was seen; what comes after it will all be pushed. */
  readonly from: Position;
}

export function createRing<Item extends RingItem>(most: RingOptions): Ring<Item> {
  let kept: (Item | undefined)[] = [];
  /** Index of the oldest: in the places before it there is nothing any more, and they are cut off now and then. */
  let first = 0;
  let bytes = 0;
  let horizon = most.from;

  /** Index of the first item after a position, by binary search. */
  function indexAfter(position: Position): number {
    let [low, high] = [first, kept.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (kept[middle]!.position <= position) low = middle + 1;
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
      kept.push(item);
      bytes += item.bytes;
      while (kept.length - first > most.items || (bytes > most.bytes && kept.length - first > 1)) {
        const gone = kept[first]!;
        kept[first++] = undefined;
        bytes -= gone.bytes;
        horizon = gone.position;
      }
      if (first > most.items) [kept, first] = [kept.slice(first), 0];
    },

    after: (position) => kept[indexAfter(position)],
    since: (position) => kept.slice(indexAfter(position)) as Item[],

    revise(change) {
      const changed = (kept.slice(first) as Item[]).flatMap((item) => change(item) ?? []);
      [kept, first] = [changed, 0];
      bytes = changed.reduce((sum, item) => sum + item.bytes, 0);
    },

    clear(upTo) {
      [kept, first, bytes, horizon] = [[], 0, 0, upTo];
    },
  };
}
