/** Streams of blocks merged into one: in order, none begun before its time, and none left open. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Order } from '../../../../domain/logs/record-id.js';
import { mergeSorted, type Source } from '../../../../projections/logs/index/k-way-merge.js';

describe('merged streams', () => {
  const sortedBy = (order: Order) => (a: number, b: number) => (order === 'desc' ? b - a : a - b);

  function fixture(all: readonly (readonly number[])[], order: Order) {
    const [begun, closed] = [new Set<number>(), new Set<number>()];
    const sources = all.map((items, nth): Source<number> => {
      const sorted = items.toSorted(sortedBy(order));
      async function* each() {
        begun.add(nth);
        try {
          yield* sorted;
        } finally {
          closed.add(nth);
        }
      }
      return { bound: sorted[0] ?? 0, items: each() };
    });
    return { sources, begun, closed };
  }
  const key = (item: number) => item;

  it('come in one order', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(20), { maxLength: 6 }), { maxLength: 5 }),
        fc.constantFrom<Order>('asc', 'desc'),
        fc.boolean(),
        async (all, order, eager) => {
          const { sources, begun, closed } = fixture(all, order);
          const found: number[] = [];
          for await (const each of mergeSorted(sources, order, key, eager)) found.push(each);
          expect(found).to.deep.equal(all.flat().sort(sortedBy(order)));
          expect([begun.size, closed.size]).to.deep.equal([all.length, all.length]);
        },
      ),
    ));

  it('are begun one, then two, then four at a time, for nothing may be in any', async () => {
    let begun = 0;
    const together: number[] = [];
    const sources = Array.from({ length: 9 }, (_, bound): Source<number> => {
      async function* none(): AsyncGenerator<number> {
        begun++;
        await new Promise(setImmediate);
        together.push(begun);
        yield* [] as number[];
      }
      return { bound, items: none() };
    });
    for await (const _ of mergeSorted(sources, 'asc', key)) expect.fail('there is nothing');
    expect(together).to.deep.equal([1, 3, 3, 7, 7, 7, 7, 9, 9]);
  });

  for (const [order, near, far] of [
    ['asc', [1, 2], [5]],
    ['desc', [5], [1, 2]],
  ] as const)
    it(`are not begun before they are needed, and closed when nobody asks on: ${order}`, async () => {
      const { sources, begun, closed } = fixture([far, near], order);
      for await (const first of mergeSorted(sources, order, key)) {
        expect(first).to.equal(near[0]);
        break;
      }
      expect([[...begun], [...closed]]).to.deep.equal([[1], [1]]);
      const eager = fixture([far, near], order);
      for await (const _ of mergeSorted(eager.sources, order, key, true)) break;
      expect([eager.begun.size, eager.closed.size]).to.deep.equal([2, 2]);
    });
});
