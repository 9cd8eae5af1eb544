/** Single-flight: concurrent callers share a lookup of the same key. */
import { expect } from 'chai';
import {
  createBatchFlight,
  createFreshSingleFlight,
  createSingleFlight,
} from '../../../application/concurrency/single-flight.js';

describe('single-flight', () => {
  it('shares a running lookup with concurrent callers', async () => {
    const singleFlight = createSingleFlight();
    let lookups = 0;
    const lookUp = async () => {
      const nth = ++lookups;
      await new Promise(setImmediate);
      if (nth === 2) throw new Error('away');
      return nth;
    };
    expect(await Promise.all([singleFlight('a', lookUp), singleFlight('a', lookUp)])).to.deep.equal([1, 1]);
    const failing = [singleFlight('a', lookUp), singleFlight('a', lookUp)];
    const messages = failing.map((each) => each.catch(({ message }: Error) => message));
    expect(await Promise.all(messages)).to.deep.equal(['away', 'away']);
    expect(await singleFlight('a', lookUp)).to.equal(3);
  });

  it('looks up only the keys of a batch that are not in flight', async () => {
    const batches: string[][] = [];
    const find = createBatchFlight(async (items: readonly { key: string }[]) => {
      batches.push(items.map(({ key }) => key));
      await new Promise(setImmediate);
      return new Map(items.flatMap(({ key }) => (key === 'none' ? [] : [[key, key.toUpperCase()]])));
    });
    const items = (...keys: string[]) => keys.map((key) => ({ key }));
    const found = await Promise.all([find(items('a', 'b')), find(items('b', 'none')), find(items('a', 'b'))]);
    const entries = found.map((each) => Object.fromEntries(each));
    expect(entries).to.deep.equal([{ a: 'A', b: 'B' }, { b: 'B' }, { a: 'A', b: 'B' }]);
    expect(batches).to.deep.equal([['a', 'b'], ['none']]);
    await find(items('a'));
    expect(batches).to.have.length(3);
  });

  it('in fresh mode, shares one next lookup among callers that arrive during the current one, even if it fails', async () => {
    const singleFlight = createFreshSingleFlight();
    const lookups: boolean[] = [];
    const lookUp = async (isShared: boolean) => {
      const nth = lookups.push(isShared);
      await new Promise(setImmediate);
      if (nth === 1) throw new Error('away');
      return nth;
    };
    const first = singleFlight('a', lookUp).catch(({ message }: Error) => message);
    const others = [singleFlight('a', lookUp), singleFlight('a', lookUp), singleFlight('b', async () => 'b')];
    expect(await Promise.all([first, ...others])).to.deep.equal(['away', 2, 2, 'b']);
    expect(lookups).to.deep.equal([false, true]);
    expect(await singleFlight('a', lookUp)).to.equal(3);
  });
});
