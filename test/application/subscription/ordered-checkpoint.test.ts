/** Work on events side by side: so much at once, and how far all of it is done. */
import { expect } from 'chai';
import { createConcurrentProcessor } from '../../../application/subscription/reaction-runner.js';

/** Work that is done, or fails, when the test says so; it steps aside at once where that is asked. */
function piece({ aside = true } = {}) {
  let [end, fail] = [() => {}, (_: Error) => {}];
  const ended = new Promise<void>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  const work = async (step: () => void) => {
    if (aside) step();
    await ended;
  };
  return { work, end: () => end(), fail: (error: Error) => fail(error) };
}

/** Whether it has come about once all that can happen by itself has. */
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

describe('work side by side', () => {
  it('is done up to just before the oldest that is not', async () => {
    const all = createConcurrentProcessor(5n, 10, () => {});
    const [one, two] = [piece(), piece()];
    await all.start(10n, one.work);
    await all.start(20n, two.work);
    all.advanceTo(30n);
    expect(all.lowWatermark()).to.equal(5n);
    two.end();
    expect(await isSettled(all.drain())).to.equal(false);
    expect(all.lowWatermark(), 'the first is not done').to.equal(5n);
    one.end();
    await all.drain();
    expect(all.lowWatermark()).to.equal(30n);
  });

  it('is waited for until it is done or has stepped aside', async () => {
    const all = createConcurrentProcessor(0n, 10, () => {});
    const one = piece({ aside: false });
    const begun = all.start(10n, one.work);
    expect(await isSettled(begun)).to.equal(false);
    one.end();
    await begun;
    expect(all.lowWatermark()).to.equal(10n);
  });

  it('is told of when it is done only where it had stepped aside', async () => {
    let told = 0;
    const all = createConcurrentProcessor(0n, 10, () => {
      told++;
    });
    await all.start(10n, async () => {});
    expect(told).to.equal(0);
    const one = piece();
    await all.start(20n, one.work);
    expect(told, 'not before it is done').to.equal(0);
    one.end();
    await all.drain();
    expect(told).to.equal(1);
  });

  it('has room for so many, and for another when any of them is done', async () => {
    const all = createConcurrentProcessor(0n, 2, () => {});
    const [one, two] = [piece(), piece()];
    await all.start(10n, one.work);
    const second = all.start(20n, two.work);
    expect(await isSettled(second), 'no room for a third').to.equal(false);
    two.end();
    await second;
    expect(all.lowWatermark()).to.equal(0n);
    one.end();
    await all.drain();
  });

  it('begins nothing more once any has failed, and is never done beyond that', async () => {
    const all = createConcurrentProcessor(0n, 10, () => {});
    const [one, two] = [piece(), piece()];
    await all.start(10n, async () => {});
    await all.start(20n, one.work);
    await all.start(30n, two.work);
    one.fail(new Error('of the first'));
    two.end();
    expect(await failure(all.drain())).to.equal('of the first');
    expect(await failure(all.start(40n, async () => {}))).to.equal('of the first');
    expect(all.lowWatermark()).to.equal(10n);
    const waiting = createConcurrentProcessor(0n, 1, () => {});
    const third = piece();
    const begun = waiting.start(10n, third.work);
    third.fail(new Error('while another waits'));
    expect(await failure(begun)).to.equal('while another waits');
  });
});
