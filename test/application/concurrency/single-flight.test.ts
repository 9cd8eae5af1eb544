/** Single-flight: callers that come during a lookup share the next one. */
import { expect } from 'chai';
import { createSingleFlight } from '../../../application/concurrency/single-flight.js';

describe('a single flight', () => {
  it('is shared by all who came during the one before, also where that fails', async () => {
    const singleFlight = createSingleFlight();
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
