/** Output that is read more slowly than it is written. */
import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { print } from '../../bin/commands/output.js';

describe('printing', () => {
  it('waits for its reader and leaves no listeners behind', async () => {
    const [output, stop] = [new PassThrough({ highWaterMark: 10 }), new AbortController()];
    let printed = 0;
    const printing = (async () => {
      for (; printed < 20; printed++) await print('0123456789', stop.signal, output);
    })();
    await new Promise(setImmediate);
    expect(printed).to.be.below(20);
    let read = 0;
    output.on('data', (piece: Buffer) => {
      read += piece.length;
    });
    await printing;
    expect(read).to.equal(200);
    expect(getEventListeners(stop.signal, 'abort')).to.have.length(0);
    expect(output.listenerCount('drain')).to.be.at.most(1);
  });

  it('ends when aborted, even if nobody reads', async () => {
    const [output, stop] = [new PassThrough({ highWaterMark: 10 }), new AbortController()];
    const printing = print('x'.repeat(100), stop.signal, output);
    stop.abort();
    await printing;
    const held = output.readableLength;
    await print('more', stop.signal, output);
    expect(output.readableLength).to.equal(held);
    expect(output.listenerCount('drain')).to.equal(0);
  });
});
