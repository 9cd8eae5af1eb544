/** The block directory: complete for every reader while new blocks are loaded. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Db } from 'mongodb';
import { createBlockDirectory } from '../../../../projections/chat/search/block-directory.js';
import { longOf } from '../../../../projections/kernel/projection.js';

const rowOf = (n: number, at = n) => ({
  _id: `one ${n}`,
  _at: longOf(BigInt(at)),
  channel: 'one',
  first: longOf(BigInt(n)),
  last: longOf(BigInt(at)),
  authors: [],
});

/** A store with only run blocks, as `runsSince` returns them. */
function storeOf(runsSince: (from: bigint) => readonly object[]): Db {
  const collection = (name: string) => ({
    find: ({ _at }: { _at: { $gt: { toBigInt(): bigint } } }) => {
      const toArray = async () => (name.endsWith('.runs') ? runsSince(_at.$gt.toBigInt()) : []);
      return { project: () => ({ toArray }) };
    },
  });
  return { collection } as unknown as Db;
}

describe('the block directory', () => {
  it('is complete for readers that arrive while new blocks are loaded', async () => {
    let end = 0n;
    const since = (after: bigint) => {
      const from = after < 0n ? 0n : after;
      return Array.from({ length: Number(end - from) }, (_, n) => rowOf(Number(from) + n + 1));
    };
    const heads = createBlockDirectory(storeOf(since), () => end);
    const reads: Promise<{ readonly of: bigint; readonly count: number }>[] = [];
    for (end = 1n; end < 5n; end++) {
      let isLoaded = false;
      const first = heads.all('build').then(() => {
        isLoaded = true;
      });
      // One read per microtask, so that some arrive while new blocks are sorted.
      while (!isLoaded) {
        const of = end;
        reads.push(heads.all('build').then((all) => ({ of, count: all.length })));
        await (reads.length % 50 === 0 ? setImmediate() : Promise.resolve());
      }
      await first;
    }
    for (const { of, count } of await Promise.all(reads)) expect(count).to.be.at.least(Number(of));
  });

  it('contains a block once, in its latest version, if it changed during the read', async () => {
    const heads = createBlockDirectory(
      storeOf(() => [rowOf(1), rowOf(2), rowOf(1, 3)]),
      () => 3n,
    );
    expect((await heads.all('build')).map(({ id, at }) => [id, at])).to.deep.equal([
      ['one 1', 3n],
      ['one 2', 2n],
    ]);
  });
});
