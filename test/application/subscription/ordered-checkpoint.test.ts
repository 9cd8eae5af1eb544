/** The concurrent processor: bounded concurrency, and a low watermark of completed positions. */
import { expect } from 'chai';
import { createConcurrentProcessor } from '../../../application/subscription/reaction-runner.js';

/** A job that ends or fails on request; with `aside`, it lets the next job start immediately. */
function createJob({ releases = true } = {}) {
  let [end, fail] = [() => {}, (_: Error) => {}];
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const work = async (step: () => void) => {
    if (releases) step();
    await ended;
  };
  return { work, end: () => end(), fail: (error: Error) => fail(error) };
}

/** Whether the promise is settled after all pending callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  await new Promise(setImmediate);
  return settled;
}

const failure = (promise: Promise<unknown>) => promise.then(() => undefined).catch((error: Error) => error.message);

describe('the concurrent processor', () => {
  it('has the position before the oldest running job as low watermark', async () => {
    const all = createConcurrentProcessor(5n, 10, () => {});
    const [one, two] = [createJob(), createJob()];
    await all.start(10n, one.work);
    await all.start(20n, two.work);
    all.advanceTo(30n);
    expect(all.lowWatermark()).to.equal(5n);
    two.end();
    expect(await isSettled(all.drain())).to.equal(false);
    expect(all.lowWatermark(), 'the first job is running').to.equal(5n);
    one.end();
    await all.drain();
    expect(all.lowWatermark()).to.equal(30n);
  });

  it('waits for a job that does not release the processor', async () => {
    const all = createConcurrentProcessor(0n, 10, () => {});
    const one = createJob({ releases: false });
    const begun = all.start(10n, one.work);
    expect(await isSettled(begun)).to.equal(false);
    one.end();
    await begun;
    expect(all.lowWatermark()).to.equal(10n);
  });

  it('notifies about completion only of jobs that released the processor', async () => {
    let completions = 0;
    const all = createConcurrentProcessor(0n, 10, () => {
      completions++;
    });
    await all.start(10n, async () => {});
    expect(completions).to.equal(0);
    const one = createJob();
    await all.start(20n, one.work);
    expect(completions, 'still running').to.equal(0);
    one.end();
    await all.drain();
    expect(completions).to.equal(1);
  });

  it('limits the number of running jobs', async () => {
    const all = createConcurrentProcessor(0n, 2, () => {});
    const [one, two] = [createJob(), createJob()];
    await all.start(10n, one.work);
    const second = all.start(20n, two.work);
    expect(await isSettled(second), 'the limit is reached').to.equal(false);
    two.end();
    await second;
    expect(all.lowWatermark()).to.equal(0n);
    one.end();
    await all.drain();
  });

  it('starts nothing after a failure, and never moves its watermark past it', async () => {
    const all = createConcurrentProcessor(0n, 10, () => {});
    const [one, two] = [createJob(), createJob()];
    await all.start(10n, async () => {});
    await all.start(20n, one.work);
    await all.start(30n, two.work);
    one.fail(new Error('first failed'));
    two.end();
    expect(await failure(all.drain())).to.equal('first failed');
    expect(await failure(all.start(40n, async () => {}))).to.equal('first failed');
    expect(all.lowWatermark()).to.equal(10n);
    const waiting = createConcurrentProcessor(0n, 1, () => {});
    const third = createJob();
    const begun = waiting.start(10n, third.work);
    third.fail(new Error('failed while waiting'));
    expect(await failure(begun)).to.equal('failed while waiting');
  });
});
