/** Reading ahead: one item, in order, with errors when they are due, and no stream left behind. */
import { expect } from 'chai';
import { readAhead } from '../../../application/concurrency/index.js';

describe('reading ahead', () => {
  const turns = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };

  /** Numbers up to `last`; then it fails, or waits until it is aborted. */
  function numbers(last: number, failure?: Error) {
    const seen = { requested: 0, closed: false };
    async function* open(signal: AbortSignal) {
      try {
        for (let at = 1; at <= last; at++) {
          seen.requested = at;
          yield at;
        }
        if (failure) throw failure;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      } finally {
        seen.closed = true;
      }
    }
    return { open, seen };
  }

  it('requests one item more than the caller works on, in order', async () => {
    const { open, seen } = numbers(10);
    const items: number[] = [];
    for await (const item of readAhead(new AbortController().signal, open)) {
      items.push(item);
      await turns();
      expect(seen.requested).to.equal(Math.min(item + 1, 10));
      if (item === 4) break;
    }
    expect(items).to.deep.equal([1, 2, 3, 4]);
    await turns();
    expect(seen.closed).to.equal(true);
  });

  it('ends a stream that waits, when the caller stops or the signal is aborted', async () => {
    const stopped = numbers(1);
    for await (const _ of readAhead(new AbortController().signal, stopped.open)) {
      await turns();
      break;
    }
    await turns();
    expect(stopped.seen.closed).to.equal(true);
    const [aborted, controller] = [numbers(1), new AbortController()];
    setTimeout(() => controller.abort(), 20);
    let count = 0;
    for await (const _ of readAhead(controller.signal, aborted.open)) count++;
    expect(count).to.equal(1);
    await turns();
    expect(aborted.seen.closed).to.equal(true);
  });

  it('drops the item that was read ahead when the signal is aborted', async () => {
    const { open } = numbers(10);
    const controller = new AbortController();
    const items: number[] = [];
    for await (const item of readAhead(controller.signal, open)) {
      items.push(item);
      await turns();
      if (item === 3) controller.abort();
    }
    expect(items).to.deep.equal([1, 2, 3]);
  });

  it('throws an error after the items before it', async () => {
    const { open, seen } = numbers(2, new Error('broken'));
    const items: number[] = [];
    let thrown: unknown;
    try {
      for await (const item of readAhead(new AbortController().signal, open)) {
        items.push(item);
        await turns();
      }
    } catch (error) {
      thrown = error;
    }
    expect(items).to.deep.equal([1, 2]);
    expect(thrown).to.be.instanceOf(Error).with.property('message', 'broken');
    expect(seen.closed).to.equal(true);
  });
});
