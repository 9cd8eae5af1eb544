/** The newest deliveries, for clients that come back: a ring of fixed size, ordered by position. */
import type { Position } from '../../application/ports.js';

export interface Ring<Item> {
  push(position: Position, item: Item): void;
  /** Everything after a position, oldest first; `too-old` when some of it may have been let go. */
  since(after: Position): readonly Item[] | 'too-old';
  /** Lets go of single items before their time. */
  forget(which: (item: Item) => boolean): void;
}

/** `from` is the position up to which nothing was seen; what comes after it will all be pushed. */
export function createRing<Item>(size: number, from: Position = -1n): Ring<Item> {
  const slots: ({ position: Position; item: Item | undefined } | undefined)[] = new Array(size);
  let pushed = 0;
  /** Position of the newest item that is no longer here. */
  let horizon = from;

  const slot = (index: number) => slots[index % size];

  return {
    push(position, item) {
      const evicted = slots[pushed % size];
      if (evicted) horizon = evicted.position;
      slots[pushed % size] = { position, item };
      pushed++;
    },

    since(after) {
      if (after < horizon) return 'too-old';
      const items: Item[] = [];
      for (let index = firstAfter(after); index < pushed; index++) {
        const item = slot(index)?.item;
        if (item !== undefined) items.push(item);
      }
      return items;
    },

    forget(which) {
      for (const entry of slots) if (entry?.item !== undefined && which(entry.item)) entry.item = undefined;
    },
  };

  /** Binary search: positions never fall. */
  function firstAfter(after: Position): number {
    let low = Math.max(0, pushed - size);
    let high = pushed;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((slot(middle)?.position ?? -1n) <= after) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
