/** What a node knows of the runs and packs of the index: nobody is shown less than the index had when they asked. */
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

/** A store in which only runs are, as they are told when they are asked for. */
function storeOf(runsSince: (from: bigint) => readonly object[]): Db {
  const collection = (name: string) => ({
    find: ({ _at }: { _at: { $gt: { toBigInt(): bigint } } }) => {
      const toArray = async () => (name.endsWith('.runs') ? runsSince(_at.$gt.toBigInt()) : []);
      return { project: () => ({ toArray }) };
    },
  });
  return { collection } as unknown as Db;
}

describe('the heads of runs and packs', () => {
  it('are all told to who asks while the newest are brought in', async () => {
    let end = 0n;
    const since = (after: bigint) => {
      const from = after < 0n ? 0n : after;
      return Array.from({ length: Number(end - from) }, (_, n) => rowOf(Number(from) + n + 1));
    };
    const heads = createBlockDirectory(storeOf(since), () => end);
    const asked: Promise<{ readonly of: bigint; readonly told: number }>[] = [];
    for (end = 1n; end < 5n; end++) {
      let isTold = false;
      const first = heads.all('build').then(() => {
        isTold = true;
      });
      // One in each moment: some of them come just when what is new is being put in order.
      while (!isTold) {
        const of = end;
        asked.push(heads.all('build').then((all) => ({ of, told: all.length })));
        await (asked.length % 50 === 0 ? setImmediate() : Promise.resolve());
      }
      await first;
    }
    for (const { of, told } of await Promise.all(asked)) expect(told).to.be.at.least(Number(of));
  });

  it('are told once of a row that changed while it was looked for, as it is by then', async () => {
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
