/** The keyed mutex: jobs of one key run one at a time, in order, and wait for a limited time. */
import { expect } from 'chai';
import { createKeyedMutex } from '../../../application/concurrency/keyed-mutex.js';

describe('the keyed mutex', () => {
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

  it('runs jobs one after the other, also after a failure', async () => {
    const runExclusive = createKeyedMutex();
    const done: number[] = [];
    let running = 0;
    const outcomes = [0, 1, 2].map((nth) =>
      runExclusive('a', async () => {
        expect(++running).to.equal(1);
        await new Promise(setImmediate);
        running--;
        done.push(nth);
        if (nth === 1) throw new Error('it failed');
      }),
    );
    expect(await refusals(outcomes)).to.have.length(1);
    expect(done).to.deep.equal([0, 1, 2]);
  });

  it('rejects jobs that waited longer than their request may take', async () => {
    const { now } = performance;
    const runExclusive = createKeyedMutex();
    const { opened, open } = gate();
    let begun = 0;
    try {
      const first = runExclusive('a', () => opened);
      const second = runExclusive('a', async () => begun++);
      await new Promise(setImmediate);
      performance.now = () => now.call(performance) + 8001;
      open();
      await first;
      expect(await refusals([second])).to.have.length(1);
      expect(begun).to.equal(0);
      expect(await runExclusive('a', async () => 'done')).to.equal('done');
    } finally {
      performance.now = now;
    }
  });
});
