/** Costly work, so many pieces at a time. */
import { expect } from 'chai';
import { createAtOnce } from '../../application/at-once.js';
import { Unavailable } from '../../application/ports.js';

/** Work that ends when it is told to. */
function piece() {
  let end: (failure?: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (failure) => (failure ? reject(failure) : resolve());
  });
  let begun = false;
  return {
    end,
    get begun() {
      return begun;
    },
    work: () => {
      begun = true;
      return ended;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('costly work', () => {
  it('is done so many pieces at a time, in the order in which it came', async () => {
    const pieces = Array.from({ length: 4 }, piece);
    const inTurn = createAtOnce('it', 2, 10);
    const all = pieces.map(({ work }) => inTurn(work));
    expect(pieces.map(({ begun }) => begun)).to.deep.equal([true, true, false, false]);
    pieces[1]!.end();
    await settled();
    expect(pieces.map(({ begun }) => begun)).to.deep.equal([true, true, true, false]);
    for (const { end } of pieces) end();
    await Promise.all(all);
  });

  it('goes on after a piece that fails', async () => {
    const [one, two] = [piece(), piece()];
    const inTurn = createAtOnce('it', 1, 10);
    const failing = inTurn(one.work).catch(({ message }: Error) => message);
    const next = inTurn(two.work);
    one.end(new Error('no'));
    expect(await failing).to.equal('no');
    two.end();
    await next;
    await inTurn(async () => {});
  });

  it('is not taken on where too much waits', async () => {
    const pieces = [piece(), piece()];
    const inTurn = createAtOnce('it', 1, 1);
    const all = pieces.map(({ work }) => inTurn(work));
    expect(await inTurn(async () => {}).catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
    for (const { end } of pieces) end();
    await Promise.all(all);
  });

  it('is refused to whoever waits for most of it where too much waits, and not to others', async () => {
    const first = piece();
    const inTurn = createAtOnce('it', 1, 3);
    const done: string[] = [];
    const ask = (whose: string) =>
      inTurn(async () => void done.push(whose), whose).catch((error: unknown) => {
        expect(error).to.be.instanceOf(Unavailable);
        done.push(`not ${whose}`);
      });
    const begun = inTurn(first.work, 'greedy');
    const all = ['greedy', 'greedy', 'greedy', 'greedy', 'ann', 'ben', 'greedy', 'ann'].map(ask);
    await settled();
    expect(done).to.have.members(['not greedy', 'not greedy', 'not greedy', 'not greedy', 'not ann']);
    first.end();
    await Promise.all([begun, ...all]);
    expect(done.slice(5)).to.deep.equal(['greedy', 'ann', 'ben']);
  });
});
