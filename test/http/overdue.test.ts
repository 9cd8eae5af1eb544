/** Requests that take longer than an answer may: their work ends, and keeps its room until it has. */
import { expect } from 'chai';
import { echo, serveToys, type Toys } from './toy.js';

describe('a request that is overdue', () => {
  let toys: Toys;
  let used = 0;
  const room = {
    take(bytes: number) {
      used += bytes;
      return true;
    },
    give(bytes: number) {
      used -= bytes;
    },
  };
  /** Of the work that is under way. */
  let signal = AbortSignal.abort();
  let finish = () => {};
  before(async () => {
    const slow = echo({
      path: '/slow',
      rawBody: true,
      room,
      handle: (request) => {
        signal = request.signal;
        return new Promise((resolve) => {
          finish = () => resolve({ status: 200, body: {} });
        });
      },
    });
    toys = await serveToys([slow], {}, { answerMs: 1 });
  });
  after(() => toys.close());

  it('is told so, and its work that nobody waits for it', async () => {
    const { status } = await toys.post('/slow', '{}');
    expect(status).to.equal(503);
    expect(signal.aborted).to.equal(true);
    finish();
  });

  it('holds room for its body until the work is over', async () => {
    const before = used;
    await toys.post('/slow', 'x'.repeat(1000));
    expect(used - before).to.equal(1000);
    finish();
    await new Promise(setImmediate);
    expect(used).to.equal(before);
  });
});
