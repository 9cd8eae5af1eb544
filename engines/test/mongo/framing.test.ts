/** Tests the memory of a message received in small pieces: its bytes, without overhead per piece. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { Framer } from '../../mongo/wire/frame.js';
import { frame } from '../support/raw-client.js';

const CONNECTIONS = 50;

describe('messages of MongoDB', () => {
  const messages = [40, 0, 7, 3000].map((length, index) => frame(2013, Buffer.alloc(length, index), index));
  const bytes = Buffer.concat(messages);

  it('are the same in pieces of any size', () => {
    for (const length of [1, 2, 3, 5, 16, 63, 64, 1000, bytes.length]) {
      const taken: Buffer[] = [];
      const framer = new Framer((message) => taken.push(message));
      for (let at = 0; at < bytes.length; at += length) framer.push(bytes.subarray(at, at + length));
      expect(taken, `${length} at once`).to.deep.equal(messages);
    }
  });

  it('do not retain the pieces they arrived in', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    // Many connections, so that other allocations of the process do not matter.
    const framers = Array.from({ length: CONNECTIONS }, () => new Framer(() => {}));
    for (const framer of framers) framer.push(Buffer.from([0, 64, 0, 0]));
    gc();
    const before = process.memoryUsage().heapUsed;
    for (const framer of framers) for (let piece = 0; piece < 16_000; piece++) framer.push(Buffer.of(0));
    gc();
    expect(process.memoryUsage().heapUsed - before).to.be.below(CONNECTIONS * 16_384 * 4);
    expect(framers).to.have.length(CONNECTIONS);
  });

  it('are refused if their length is impossible', () => {
    for (const length of [-1, 0, 15, 101]) {
      const framer = new Framer(
        () => {},
        () => 100,
      );
      const [first, ...rest] = frame(2013, Buffer.alloc(0), 7, length);
      framer.push(Buffer.of(first!));
      expect(() => framer.push(Buffer.from(rest)), String(length)).to.throw(RangeError);
    }
  });
});
