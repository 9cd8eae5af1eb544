/** Streamed JSON answers: limited concurrency, and each releases its budget however it ends. */
import { expect } from 'chai';
import { sendJsonStream } from '../../adapters/http/server/download.js';
import { createBudget } from '../../application/concurrency/limiters.js';

describe('streamed JSON answer', () => {
  let started = 0;
  const download = {
    position: 7n,
    async *pieces() {
      started++;
      yield '[1,';
      yield '2]';
    },
  };
  const downloads = () => createBudget('downloads', 20);
  type Budget = ReturnType<typeof downloads>;
  const openSignal = new AbortController().signal;
  const send = async (budget: Budget, caller: string, of = download, method = 'GET', signal = openSignal) => {
    const answer = await sendJsonStream({ method, signal }, of, budget, caller);
    return 'problem' in answer ? answer.problem : answer.bytes!.content()[Symbol.asyncIterator]();
  };
  const expectStarted = async (...args: Parameters<typeof send>) => {
    const found = await send(...args);
    if (typeof found === 'number') throw new Error(`refused with ${found}`);
    return found;
  };

  it('reserves part of the budget until it is read, or until its reader disconnects', async () => {
    const budget = downloads();
    const ada = await expectStarted(budget, 'ada');
    expect(await send(budget, 'ada')).to.equal(429);
    const bob = await expectStarted(budget, 'bob');
    expect(await send(budget, 'cyd')).to.equal(503);
    const read: string[] = [];
    for (let next = await ada.next(); !next.done; next = await ada.next()) read.push(String(next.value));
    expect(read.join('')).to.equal('[1,2]');
    const cyd = await expectStarted(budget, 'cyd');
    for (const reader of [bob, cyd]) await reader.return!();
    expect(budget.used()).to.equal(0);
  });

  it('fails completely and releases its budget when its beginning cannot be read', async () => {
    const budget = downloads();
    // biome-ignore lint/correctness/useYield: it throws first.
    const failing = async function* (): AsyncGenerator<'[1,' | '2]', void> {
      throw new Error('away');
    };
    const error = await send(budget, 'ada', { ...download, pieces: failing }).catch(({ message }) => message);
    expect([error, budget.used()]).to.deep.equal(['away', 0]);
  });

  it('releases its budget when its client disconnects before the beginning is ready', async () => {
    const budget = downloads();
    const [client, ended] = [new AbortController(), [] as string[]];
    const slow = (name: string) =>
      async function* (): AsyncGenerator<'[1,' | '2]', void> {
        try {
          if (name === 'late') client.abort();
          yield '[1,';
        } finally {
          ended.push(name);
        }
      };
    await expectStarted(budget, 'ada', { ...download, pieces: slow('begun') }, 'GET', client.signal);
    expect(budget.used()).to.equal(8);
    await expectStarted(budget, 'bob', { ...download, pieces: slow('late') }, 'GET', client.signal);
    expect([budget.used(), ended]).to.deep.equal([0, ['begun', 'late']]);
  });

  it('does not start reading for HEAD requests', async () => {
    const budget = downloads();
    started = 0;
    await send(budget, 'ada', download, 'HEAD');
    expect([started, budget.used()]).to.deep.equal([0, 0]);
  });
});
