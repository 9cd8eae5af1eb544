/** Answers that are made as they are read: so many at a time, and each gives its place back however it ends. */
import { expect } from 'chai';
import { sendJsonStream } from '../../../adapters/http/chat/stream-download.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';

describe('an answer that is made as it is read', () => {
  let begun = 0;
  const download = {
    position: 7n,
    async *pieces() {
      begun++;
      yield '[1,';
      yield '2]';
    },
  };
  const downloads = () => createBudget('downloads', 20);
  type Budget = ReturnType<typeof downloads>;
  const staying = new AbortController().signal;
  const send = async (budget: Budget, whose: string, of = download, method = 'GET', signal = staying) => {
    const answer = await sendJsonStream({ method, signal }, of, budget, whose);
    return 'problem' in answer ? answer.problem : answer.bytes!.content()[Symbol.asyncIterator]();
  };
  const sending = async (...asked: Parameters<typeof send>) => {
    const found = await send(...asked);
    if (typeof found === 'number') throw new Error(`refused with ${found}`);
    return found;
  };

  it('has a place among few, which it gives back when it is read, or when its reader has gone', async () => {
    const budget = downloads();
    const ada = await sending(budget, 'ada');
    expect(await send(budget, 'ada')).to.equal(429);
    const bob = await sending(budget, 'bob');
    expect(await send(budget, 'cyd')).to.equal(503);
    const read: string[] = [];
    for (let next = await ada.next(); !next.done; next = await ada.next()) read.push(String(next.value));
    expect(read.join('')).to.equal('[1,2]');
    const cyd = await sending(budget, 'cyd');
    for (const gone of [bob, cyd]) await gone.return!();
    expect(budget.used()).to.equal(0);
  });

  it('is refused as a whole, and has no place, where its beginning cannot be read', async () => {
    const budget = downloads();
    // biome-ignore lint/correctness/useYield: it never comes to that.
    const away = async function* (): AsyncGenerator<'[1,' | '2]', void> {
      throw new Error('away');
    };
    const error = await send(budget, 'ada', { ...download, pieces: away }).catch(({ message }) => message);
    expect([error, budget.used()]).to.deep.equal(['away', 0]);
  });

  it('has no place where its beginning came after its asker was answered otherwise, or had gone', async () => {
    const budget = downloads();
    const [left, ended] = [new AbortController(), [] as string[]];
    const slow = (name: string) =>
      async function* (): AsyncGenerator<'[1,' | '2]', void> {
        try {
          if (name === 'late') left.abort();
          yield '[1,';
        } finally {
          ended.push(name);
        }
      };
    await sending(budget, 'ada', { ...download, pieces: slow('begun') }, 'GET', left.signal);
    expect(budget.used()).to.equal(8);
    await sending(budget, 'bob', { ...download, pieces: slow('late') }, 'GET', left.signal);
    expect([budget.used(), ended]).to.deep.equal([0, ['begun', 'late']]);
  });

  it('is not begun where only its headers are asked for', async () => {
    const budget = downloads();
    begun = 0;
    await send(budget, 'ada', download, 'HEAD');
    expect([begun, budget.used()]).to.deep.equal([0, 0]);
  });
});
