/** The top-k counter: bounded memory, largest counts first. */
import { expect } from 'chai';
import fc from 'fast-check';
import { yieldOnly } from '../../../../application/logs/query/query-budget.js';
import { createTopKCounter, TooManyKeys } from '../../../../application/logs/query/top-k-counter.js';

describe('the top-k counter', () => {
  it('returns the largest counts, with ties ordered by key', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...'abcdefghij'), fc.integer({ min: 1, max: 3 }))),
        fc.integer({ min: 1, max: 5 }),
        async (counted, limit) => {
          const tally = createTopKCounter({ remaining: 1e6 });
          const counts = new Map<string, number>();
          for (const [key, count] of counted) {
            tally.add([key], count);
            counts.set(key, (counts.get(key) ?? 0) + count);
          }
          const all = [...counts].map(([key, count]) => ({ key, count }));
          const sorted = all.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
          expect(await tally.largest(limit, yieldOnly)).to.deep.equal(sorted.slice(0, limit));
          expect(tally.total()).to.equal(counted.reduce((sum, [, count]) => sum + count, 0));
        },
      ),
    ));

  it('returns fewer entries if keys are long, but one at least', async () => {
    const key = (first: string, length: number) => first.padEnd(length, 'x');
    const tally = createTopKCounter({ remaining: 1e9 });
    for (const [nth, first] of [...'abc'].entries()) tally.add([key(first, 2_000_000)], 9 - nth);
    expect((await tally.largest(10, yieldOnly)).map(({ key }) => key[0])).to.deep.equal(['a', 'b']);
    const longest = createTopKCounter({ remaining: 1e9 });
    longest.add([key('a', 5_000_000), 'b'], 1);
    expect((await longest.largest(10, yieldOnly)).map(({ key }) => key[0])).to.deep.equal(['a']);
  });

  it('reserves memory once per distinct key, and releases all of it', () => {
    const room = { remaining: 1000 };
    const one = createTopKCounter(room);
    const other = createTopKCounter(room);
    one.add(['a'.repeat(100)], 1);
    const { remaining } = room;
    expect(remaining).to.be.within(700, 900);
    one.add(['a'.repeat(100)], 1);
    expect(room.remaining).to.equal(remaining);
    other.add(['b'.repeat(100)], 1);
    expect(() => other.add(['c'.repeat(700)], 1)).to.throw(TooManyKeys);
    other.release();
    expect(room.remaining).to.equal(remaining);
    other.release();
    one.release();
    expect(room.remaining).to.equal(1000);
  });

  it('can use its budget to the last character', () => {
    const room = { remaining: 64 + 10 };
    createTopKCounter(room).add(['x'.repeat(10)], 1);
    expect(room.remaining).to.equal(0);
  });

  it('yields to the event loop while it sorts', async () => {
    const tally = createTopKCounter({ remaining: 1e6 });
    tally.add(['a', 'b', 'c'], 1);
    let checkpoints = 0;
    const checkpoint = () => {
      checkpoints++;
      return Promise.resolve();
    };
    await tally.largest(10, checkpoint);
    expect(checkpoints).to.equal(3);
    const stopped = new Error('aborted');
    const failure = await tally
      .largest(10, () => {
        throw stopped;
      })
      .catch((error: unknown) => error);
    expect(failure).to.equal(stopped);
  });
});
