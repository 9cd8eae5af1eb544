/** Costly work, so many pieces at a time. */
import { expect } from 'chai';
import { createFairSemaphore } from '../../../application/concurrency/fair-semaphore.js';
import { UnavailableError } from '../../../application/ports/index.js';

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
    const inTurn = createFairSemaphore('it', 2, 10);
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
    const inTurn = createFairSemaphore('it', 1, 10);
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
    const inTurn = createFairSemaphore('it', 1, 1);
    const all = pieces.map(({ work }) => inTurn(work));
    expect(await inTurn(async () => {}).catch((error: unknown) => error)).to.be.instanceOf(UnavailableError);
    for (const { end } of pieces) end();
    await Promise.all(all);
  });

  it('is refused to whoever waits for most of it where too much waits, and not to others', async () => {
    const first = piece();
    const inTurn = createFairSemaphore('it', 1, 3);
    const done: string[] = [];
    const ask = (whose: string) =>
      inTurn(async () => void done.push(whose), whose).catch((error: unknown) => {
        expect(error).to.be.instanceOf(UnavailableError);
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

  it('is not begun for who has gone, whose place others get', async () => {
    const first = piece();
    const inTurn = createFairSemaphore('it', 1, 2);
    const begun = inTurn(first.work);
    const request = new AbortController();
    const left = Array.from({ length: 3 }, piece);
    const wait = ({ work }: (typeof left)[0], nth: number) =>
      inTurn(work, `gone ${nth}`, { request }).catch((error: unknown) => error);
    const gone = left.slice(1).map(wait);
    request.abort();
    // They hear of it at once, and who comes when gone already does too.
    for (const refused of await Promise.all([...gone, wait(left[0]!, 0)]))
      expect(refused).to.be.instanceOf(UnavailableError);
    const others = ['one', 'two'].map((each) => inTurn(async () => each, 'ann'));
    first.end();
    expect(await Promise.all([begun, ...others])).to.deep.equal([undefined, 'one', 'two']);
    expect(left.map(({ begun }) => begun)).to.deep.equal([false, false, false]);
  });

  it('is done once for all who wait for the same when it begins, and again for who comes later', async () => {
    const first = piece();
    const inTurn = createFairSemaphore('it', 1, 10);
    const begun = inTurn(first.work);
    let made = 0;
    const ask = (whose: string, coalesceKey: string) =>
      inTurn(async () => `${coalesceKey} ${++made}`, whose, { coalesceKey });
    const waiting = [
      ask('ann', 'a'),
      ask('ben', 'b'),
      ask('ann', 'b'),
      ask('cyd', 'a'),
      // One of hers is made with others, and the other one waits on.
      ask('eve', 'a'),
      ask('eve', 'c'),
    ];
    first.end();
    const late = waiting[0]!.then(() => ask('dot', 'a'));
    expect(await Promise.all([begun, ...waiting, late])).to.deep.equal([
      undefined,
      'a 1',
      'b 2',
      'b 2',
      'a 1',
      'a 1',
      'c 3',
      'a 4',
    ]);
  });

  it('is given to no more of them than may share it, and to none where it fails', async () => {
    const first = piece();
    const inTurn = createFairSemaphore('it', 1, 10);
    const begun = inTurn(first.work);
    let made = 0;
    const make = async () => {
      if (++made === 1) throw new Error('no');
      return made;
    };
    const waiting = ['ann', 'ann', 'ben', 'cyd', 'dot'].map((whose) =>
      inTurn(make, whose, { coalesceKey: 'a', maxSharers: () => 2 }).catch(({ message }: Error) => message),
    );
    first.end();
    expect(await Promise.all([begun, ...waiting])).to.deep.equal([undefined, 'no', 3, 2, 2, 2]);
  });
});

describe('costly work of different weight', () => {
  function fixture(most: number) {
    const semaphore = createFairSemaphore('it', most, 10);
    const begun: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const work = (name: string, size: number) =>
      semaphore(
        () => {
          begun.push(name);
          return new Promise<string>((resolve, reject) => {
            ends.set(name, (error) => (error ? reject(error) : resolve(name)));
          });
        },
        '',
        { weight: size },
      );
    const end = async (name: string, error?: Error) => {
      ends.get(name)!(error);
      await settled();
    };
    return { work, begun, end };
  }

  it('lets in what fits, and the others in their order as soon as they do', async () => {
    const { work, begun, end } = fixture(10);
    const all = [work('a', 6), work('b', 4), work('c', 5), work('small', 1)];
    await settled();
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    expect(begun, 'who is small waits behind who came before').to.deep.equal(['a', 'b']);
    await end('a');
    expect(begun).to.deep.equal(['a', 'b', 'c', 'small']);
    for (const name of ['c', 'small']) await end(name);
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'small']);
  });

  it('is all for what is larger than it, alone', async () => {
    const { work, begun, end } = fixture(10);
    const all = [work('large', 99), work('small', 1), work('as large', 10)];
    await settled();
    expect(begun).to.deep.equal(['large']);
    await end('large');
    expect(begun).to.deep.equal(['large', 'small']);
    await end('small');
    expect(begun).to.deep.equal(['large', 'small', 'as large']);
    await end('as large');
    await Promise.all(all);
  });

  it('is given back by what fails', async () => {
    const { work, begun, end } = fixture(10);
    const failed = work('a', 10).catch(({ message }: Error) => message);
    const next = work('b', 10);
    await settled();
    await end('a', new Error('broken'));
    expect(await failed).to.equal('broken');
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    await next;
  });
});
