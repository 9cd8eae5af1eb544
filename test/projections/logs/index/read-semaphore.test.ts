/** The semaphore of blocks that are looked into: never more at once than fit, and nobody is passed over. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { createSemaphore } from '../../../../projections/logs/index/read-semaphore.js';

describe('the semaphore of blocks that are open', () => {
  function fixture(most: number) {
    const semaphore = createSemaphore(most);
    const begun: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const work = (name: string, size: number) =>
      semaphore.run(size, () => {
        begun.push(name);
        return new Promise<string>((resolve, reject) => {
          ends.set(name, (error) => (error ? reject(error) : resolve(name)));
        });
      });
    const end = async (name: string, error?: Error) => {
      ends.get(name)!(error);
      await setImmediate();
    };
    return { work, begun, end };
  }

  it('lets in what fits, and the others in their order as soon as they do', async () => {
    const { work, begun, end } = fixture(10);
    const all = [work('a', 6), work('b', 4), work('c', 5), work('small', 1)];
    await setImmediate();
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
    await setImmediate();
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
    await setImmediate();
    await end('a', new Error('broken'));
    expect(await failed).to.equal('broken');
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    await next;
  });
});
