/** The batch loader combines lookups of one moment into one query. */
import { expect } from 'chai';
import { createBatchLoader } from '../../../application/concurrency/single-flight.js';

describe('the batch loader', () => {
  it('combines lookups of one moment into one query of distinct names', async () => {
    const queries: string[][] = [];
    const find = createBatchLoader(async (names) => {
      queries.push([...names]);
      return new Map([...names].flatMap((name) => (name === 'none' ? [] : [[name, name.length] as const])));
    });
    expect(await Promise.all([find('a'), find('bb'), find('a'), find('none')])).to.deep.equal([1, 2, 1, undefined]);
    expect(await find('ccc')).to.equal(3);
    expect(queries).to.deep.equal([['a', 'bb', 'none'], ['ccc']]);
  });

  it('does not answer from a query that started before the lookup', async () => {
    let now = 0;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const find = createBatchLoader(async (names) => {
      const nth = ++now;
      if (nth === 1) await released;
      return new Map([...names].map((name) => [name, nth]));
    });
    const first = find('a');
    await new Promise((resolve) => setImmediate(resolve));
    const second = find('a');
    release();
    expect([await first, await second]).to.deep.equal([1, 2]);
  });

  it('splits large batches', async () => {
    const sizes: number[] = [];
    const find = createBatchLoader(async (names) => {
      sizes.push(names.size);
      return new Map([...names].map((name) => [name, name]));
    });
    const names = Array.from({ length: 2500 }, (_, n) => `${n}`);
    expect(await Promise.all(names.map(find))).to.deep.equal(names);
    expect(sizes).to.deep.equal([1000, 1000, 500]);
  });

  it('fails all lookups of a failed batch, and none that follow', async () => {
    let isAway = true;
    const find = createBatchLoader(async (names) => {
      if (isAway) throw new Error('away');
      return new Map([...names].map((name) => [name, name]));
    });
    const failed = await Promise.allSettled([find('a'), find('b')]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    isAway = false;
    expect(await find('a')).to.equal('a');
  });
});
