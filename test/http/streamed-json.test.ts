/** Streaming a list as one JSON object: items are produced only as they are read. */
import { expect } from 'chai';
import { streamedList } from '../../adapters/http/server/streamed-json.js';

describe('streamed JSON list', () => {
  const item = (n: number) => ({ n, text: 'ü'.repeat(1000) });

  it('is sent as one text when short or empty', () => {
    for (const items of [[], [1], [{ a: 'ü' }, null]])
      expect(streamedList('items', items, { position: 7n })).to.deep.include({
        status: 200,
        position: 7n,
        text: JSON.stringify({ items }),
      });
  });

  it('is produced as it is read when long', async () => {
    const items = Array.from({ length: 500 }, (_, n) => item(n));
    let produced = 0;
    const produce = function* () {
      for (const each of items) {
        produced++;
        yield each;
      }
    };
    const { bytes, text, consistency } = streamedList('items', produce(), { consistency: 'pending' });
    expect([text, consistency]).to.deep.equal([undefined, 'pending']);
    const pieces: (Uint8Array | string)[] = [];
    for await (const piece of bytes!.content()) {
      pieces.push(piece);
      if (pieces.length === 1) expect(produced).to.be.below(100);
      expect(piece.length).to.be.below(100_000);
    }
    expect(JSON.parse(pieces.join(''))).to.deep.equal({ items });
    expect(produced).to.equal(500);
  });

  it('yields to other work', async () => {
    const slow = function* () {
      for (let n = 0; n < 400; n++) yield item(n);
    };
    let yields = 0;
    let isDone = false;
    const others = () => {
      yields++;
      if (!isDone) setImmediate(others);
    };
    others();
    const until = performance.now() + 30;
    for await (const _ of streamedList('items', slow()).bytes!.content()) while (performance.now() < until);
    isDone = true;
    expect(yields).to.be.greaterThan(1);
  });
});
