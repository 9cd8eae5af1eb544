/** K-way merge of sorted streams: in order, lazily started, and always closed. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Order } from '../../../../domain/logs/record-id.js';
import { mergeSorted, type Source } from '../../../../projections/logs/index/k-way-merge.js';

describe('a k-way merge', () => {
  const sortedBy = (order: Order) => (a: number, b: number) => (order === 'desc' ? b - a : a - b);

  function fixture(all: readonly (readonly number[])[], order: Order) {
    const [started, closed] = [new Set<number>(), new Set<number>()];
    const sources = all.map((items, nth): Source<number> => {
      const sorted = items.toSorted(sortedBy(order));
      async function* each() {
        started.add(nth);
        try {
          yield* sorted;
        } finally {
          closed.add(nth);
        }
      }
      return { bound: sorted[0] ?? 0, items: each() };
    });
    return { sources, started, closed };
  }
  const key = (item: number) => item;

  it('returns all items in order', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(20), { maxLength: 6 }), { maxLength: 5 }),
        fc.constantFrom<Order>('asc', 'desc'),
        fc.boolean(),
        async (all, order, eager) => {
          const { sources, started, closed } = fixture(all, order);
          const found: number[] = [];
          for await (const each of mergeSorted(sources, order, key, eager)) found.push(each);
          expect(found).to.deep.equal(all.flat().sort(sortedBy(order)));
          expect([started.size, closed.size]).to.deep.equal([all.length, all.length]);
        },
      ),
    ));

  it('starts one source, then two, then four at a time while they are empty', async () => {
    let started = 0;
    const startedCounts: number[] = [];
    const sources = Array.from({ length: 9 }, (_, bound): Source<number> => {
      async function* none(): AsyncGenerator<number> {
        started++;
        await new Promise(setImmediate);
        startedCounts.push(started);
        yield* [] as number[];
      }
      return { bound, items: none() };
    });
    for await (const _ of mergeSorted(sources, 'asc', key)) expect.fail('there is nothing');
    expect(startedCounts).to.deep.equal([1, 3, 3, 7, 7, 7, 7, 9, 9]);
  });

  for (const [order, near, far] of [
    ['asc', [1, 2], [5]],
    ['desc', [5], [1, 2]],
  ] as const)
    it(`starts sources only when needed, and closes them when the consumer stops: ${order}`, async () => {
      const { sources, started, closed } = fixture([far, near], order);
      for await (const first of mergeSorted(sources, order, key)) {
        expect(first).to.equal(near[0]);
        break;
      }
      expect([[...started], [...closed]]).to.deep.equal([[1], [1]]);
      const eager = fixture([far, near], order);
      for await (const _ of mergeSorted(eager.sources, order, key, true)) break;
      expect([eager.started.size, eager.closed.size]).to.deep.equal([2, 2]);
    });
});
