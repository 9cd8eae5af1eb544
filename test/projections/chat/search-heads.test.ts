/** What a node knows of the runs and packs of the index: nobody is shown less than the index had when they asked. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { Db } from 'mongodb';
import { createHeads } from '../../../projections/chat/search/heads.js';
import { longOf } from '../../../projections/projection.js';

describe('the heads of runs and packs', () => {
  it('are all told to who asks while the newest are brought in', async () => {
    const rowOf = (n: number) => ({
      _id: `one ${n}`,
      _at: longOf(BigInt(n)),
      channel: 'one',
      first: longOf(BigInt(n)),
      last: longOf(BigInt(n)),
      authors: [],
    });
    let end = 0n;
    const since = (from: bigint) =>
      Array.from({ length: Number(end - from) }, (_, n) => rowOf(Number(from) + n + 1));
    const collection = (name: string) => ({
      find: ({ _at }: { _at: { $gt: { toBigInt(): bigint } } }) => {
        const from = _at.$gt.toBigInt();
        const toArray = async () => (name.endsWith('.runs') ? since(from < 0n ? 0n : from) : []);
        return { project: () => ({ toArray }) };
      },
    });
    const heads = createHeads({ collection } as unknown as Db, () => end);
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
});
