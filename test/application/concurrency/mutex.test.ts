/** The lines that commands wait in, one for each stream: in order, one at a time, and no longer than they may be. */
import { expect } from 'chai';
import { createKeyedMutex } from '../../../application/concurrency/keyed-mutex.js';

describe('a line of commands', () => {
  const gate = () => {
    let open = () => {};
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    return { opened, open };
  };
  const refusals = async (outcomes: readonly Promise<unknown>[]) => {
    const settled = await Promise.allSettled(outcomes);
    return settled.filter((each) => each.status === 'rejected').map(({ reason }) => reason);
  };

  it('lets one go after the other, also behind one that fails', async () => {
    const inLine = createKeyedMutex();
    const done: number[] = [];
    let under = 0;
    const outcomes = [0, 1, 2].map((nth) =>
      inLine('a', async () => {
        expect(++under).to.equal(1);
        await new Promise(setImmediate);
        under--;
        done.push(nth);
        if (nth === 1) throw new Error('it failed');
      }),
    );
    expect(await refusals(outcomes)).to.have.length(1);
    expect(done).to.deep.equal([0, 1, 2]);
  });

  it('begins nothing that has waited for longer than its request is waited for', async () => {
    const { now } = performance;
    const inLine = createKeyedMutex();
    const { opened, open } = gate();
    let begun = 0;
    try {
      const first = inLine('a', () => opened);
      const second = inLine('a', async () => begun++);
      await new Promise(setImmediate);
      performance.now = () => now.call(performance) + 8001;
      open();
      await first;
      expect(await refusals([second])).to.have.length(1);
      expect(begun).to.equal(0);
      expect(await inLine('a', async () => 'done')).to.equal('done');
    } finally {
      performance.now = now;
    }
  });
});
