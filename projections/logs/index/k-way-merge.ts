/** Merges streams of blocks, each in order by itself, into one. */
import type { Order } from '../../../domain/logs/record-id.js';

export interface Source<Item> {
  /** No item of it comes before this in the order. */
  readonly bound: number;
  readonly items: AsyncIterable<Item>;
}

/** Where one is not enough, two streams are begun at once, then four: what is rare is looked for in many. */
const MOST_AT_ONCE = 16;

/** A stream is not begun long before it is needed; `eager` begins all at once, where little is expected of each. */
export async function* merged<Item>(
  sources: readonly Source<Item>[],
  order: Order,
  keyOf: (item: Item) => number,
  eager = false,
): AsyncGenerator<Item> {
  const sign = order === 'desc' ? -1 : 1;
  const waiting = sources.toSorted((a, b) => sign * (b.bound - a.bound));
  let atOnce = 1;
  const running: { readonly items: AsyncIterator<Item>; head: Item }[] = [];
  const begin = async ({ items: source }: Source<Item>) => {
    const items = source[Symbol.asyncIterator]();
    const first = await items.next();
    if (!first.done) running.push({ items, head: first.value });
  };
  try {
    if (eager) await Promise.all(waiting.splice(0).map(begin));
    for (;;) {
      let best = least(running, (each) => sign * keyOf(each.head));
      while (waiting.length > 0 && (!best || sign * waiting.at(-1)!.bound <= sign * keyOf(best.head))) {
        await Promise.all(waiting.splice(-atOnce).map(begin));
        atOnce = Math.min(atOnce * 2, MOST_AT_ONCE);
        best = least(running, (each) => sign * keyOf(each.head));
      }
      if (!best) return;
      yield best.head;
      const next = await best.items.next();
      if (next.done) running.splice(running.indexOf(best), 1);
      else best.head = next.value;
    }
  } finally {
    await Promise.all(running.map(({ items }) => items.return?.()));
  }
}

function least<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item | undefined {
  let best: Item | undefined;
  for (const item of items) if (best === undefined || keyOf(item) < keyOf(best)) best = item;
  return best;
}
