/** Merges sorted streams of blocks into one. */
import type { Order } from '../../../domain/logs/record-id.js';

export interface Source<Item> {
  readonly bound: number;
  readonly items: AsyncIterable<Item>;
}

/** Streams started concurrently: 1, then 2, 4, ... because a rare record may be in any of many. */
const MAX_CONCURRENT = 16;

/** Starts streams only when needed; `eager` starts all, if little is expected of each. */
export async function* mergeSorted<Item>(
  sources: readonly Source<Item>[],
  order: Order,
  keyOf: (item: Item) => number,
  eager = false,
): AsyncGenerator<Item> {
  const sign = order === 'desc' ? -1 : 1;
  const pending = sources.toSorted((a, b) => sign * (b.bound - a.bound));
  let concurrency = 1;
  const running: { readonly items: AsyncIterator<Item>; head: Item }[] = [];
  const start = async ({ items: source }: Source<Item>) => {
    const items = source[Symbol.asyncIterator]();
    const first = await items.next();
    if (!first.done) running.push({ items, head: first.value });
  };
  try {
    if (eager) await Promise.all(pending.splice(0).map(start));
    for (;;) {
      let best = minBy(running, (each) => sign * keyOf(each.head));
      while (pending.length > 0 && (!best || sign * pending.at(-1)!.bound <= sign * keyOf(best.head))) {
        await Promise.all(pending.splice(-concurrency).map(start));
        concurrency = Math.min(concurrency * 2, MAX_CONCURRENT);
        best = minBy(running, (each) => sign * keyOf(each.head));
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

function minBy<Item>(items: readonly Item[], keyOf: (item: Item) => number): Item | undefined {
  let best: Item | undefined;
  for (const item of items) if (best === undefined || keyOf(item) < keyOf(best)) best = item;
  return best;
}
