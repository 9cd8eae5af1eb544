/** A list of whatever length is answered as JSON of one object, and no more of it is made than is read. */
import { expect } from 'chai';
import { streamedList } from '../../adapters/http/server/streamed-json.js';

describe('a list that is answered', () => {
  const item = (n: number) => ({ n, text: 'ü'.repeat(1000) });

  it('is whole where it is short, or empty', () => {
    for (const items of [[], [1], [{ a: 'ü' }, null]])
      expect(streamedList('items', items, { position: 7n })).to.deep.include({
        status: 200,
        position: 7n,
        text: JSON.stringify({ items }),
      });
  });

  it('is made as it is read where it is long', async () => {
    const items = Array.from({ length: 500 }, (_, n) => item(n));
    let made = 0;
    const making = function* () {
      for (const each of items) {
        made++;
        yield each;
      }
    };
    const { bytes, text, consistency } = streamedList('items', making(), { consistency: 'pending' });
    expect([text, consistency]).to.deep.equal([undefined, 'pending']);
    const pieces: (Uint8Array | string)[] = [];
    for await (const piece of bytes!.content()) {
      pieces.push(piece);
      if (pieces.length === 1) expect(made).to.be.below(100);
      expect(piece.length).to.be.below(100_000);
    }
    expect(JSON.parse(pieces.join(''))).to.deep.equal({ items });
    expect(made).to.equal(500);
  });

  it('lets others have their turn', async () => {
    const slow = function* () {
      for (let n = 0; n < 400; n++) yield item(n);
    };
    let turns = 0;
    let isOver = false;
    const others = () => {
      turns++;
      if (!isOver) setImmediate(others);
    };
    others();
    const until = performance.now() + 30;
    for await (const _ of streamedList('items', slow()).bytes!.content()) while (performance.now() < until);
    isOver = true;
    expect(turns).to.be.greaterThan(1);
  });
});
