/** Questions that are asked in one moment are put as one. */
import { expect } from 'chai';
import { createBatchLoader } from '../../../application/concurrency/batch-loader.js';

describe('what is asked for in one moment', () => {
  it('is asked for together, each once, and told to each', async () => {
    const asked: string[][] = [];
    const find = createBatchLoader(async (names) => {
      asked.push([...names]);
      return new Map([...names].flatMap((name) => (name === 'none' ? [] : [[name, name.length] as const])));
    });
    expect(await Promise.all([find('a'), find('bb'), find('a'), find('none')])).to.deep.equal([1, 2, 1, undefined]);
    expect(await find('ccc')).to.equal(3);
    expect(asked).to.deep.equal([['a', 'bb', 'none'], ['ccc']]);
  });

  it('is not answered by a question that was put before', async () => {
    let now = 0;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const find = createBatchLoader(async (names) => {
      const seen = ++now;
      if (seen === 1) await held;
      return new Map([...names].map((name) => [name, seen]));
    });
    const first = find('a');
    await new Promise((resolve) => setImmediate(resolve));
    const second = find('a');
    goOn();
    expect([await first, await second]).to.deep.equal([1, 2]);
  });

  it('is asked for in parts where it is much', async () => {
    const sizes: number[] = [];
    const find = createBatchLoader(async (names) => {
      sizes.push(names.size);
      return new Map([...names].map((name) => [name, name]));
    });
    const names = Array.from({ length: 2500 }, (_, n) => `${n}`);
    expect(await Promise.all(names.map(find))).to.deep.equal(names);
    expect(sizes).to.deep.equal([1000, 1000, 500]);
  });

  it('fails for all who asked with it, and for nobody after', async () => {
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
