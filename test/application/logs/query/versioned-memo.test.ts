/**
 * The versioned memo: loads an answer once for concurrent callers, caches it per version, and aborts unneeded loads.
 */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Abandoned } from '../../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../../application/logs/query/versioned-memo.js';

function fixture(limitBytes = 1000) {
  let [version, now] = [1, 0];
  const memo = createVersionedMemo<string>({
    name: 'toys.answers',
    version: () => version,
    limitBytes,
    sizeOf: (answer) => answer.length,
    now: () => now,
  });
  const signals: AbortSignal[] = [];
  const answers: { resolve: (answer: string) => void; reject: (error: unknown) => void }[] = [];
  return {
    memo,
    signals,
    answers,
    change: () => version++,
    pass: (ms: number) => {
      now += ms;
    },
    ask: (signal: AbortSignal) => {
      signals.push(signal);
      return new Promise<string>((resolve, reject) => answers.push({ resolve, reject }));
    },
  };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => error,
  );

describe('the versioned memo', () => {
  it('loads an answer once for concurrent callers of the same query', async () => {
    const { memo, answers, ask } = fixture();
    const both = [memo.get('how many?', ask), memo.get('how many?', ask)];
    const other = memo.get('how large?', ask);
    expect(answers).to.have.length(2);
    answers[0]!.resolve('three');
    answers[1]!.resolve('two');
    expect(await Promise.all(both)).to.deep.equal(['three', 'three']);
    expect(await other).to.equal('two');
  });

  it('caches an answer until the version changes', async () => {
    const { memo, answers, ask, change } = fixture();
    const first = memo.get('how many?', ask);
    answers[0]!.resolve('three');
    await first;
    expect(await memo.get('how many?', ask)).to.equal('three');
    expect(memo.cache.bytes()).to.equal('three'.length + 2 * 'how many?'.length);
    change();
    const second = memo.get('how many?', ask);
    expect(answers).to.have.length(2);
    expect(memo.cache.bytes()).to.equal(0);
    answers[1]!.resolve('four');
    expect(await second).to.equal('four');
  });

  it('loads again after 200 ms, since changes of other nodes may be unknown', async () => {
    const { memo, answers, ask, pass } = fixture();
    const first = memo.get('how many?', ask);
    answers[0]!.resolve('three');
    await first;
    pass(200);
    expect(await memo.get('how many?', ask)).to.equal('three');
    pass(1);
    const second = memo.get('how many?', ask);
    answers[1]!.resolve('four');
    expect(await second).to.equal('four');
    pass(200);
    expect(await memo.get('how many?', ask)).to.equal('four');
  });

  it('does not cache an answer requested before the version changed', async () => {
    const { memo, answers, ask, change } = fixture();
    const old = memo.get('how many?', ask);
    change();
    const fresh = memo.get('how many?', ask);
    answers[0]!.resolve('three');
    expect(await old).to.equal('three');
    expect(memo.cache.bytes()).to.equal(0);
    const joined = memo.get('how many?', ask);
    expect(answers).to.have.length(2);
    answers[1]!.resolve('four');
    expect(await Promise.all([fresh, joined])).to.deep.equal(['four', 'four']);
  });

  it('caches within a memory bound', async () => {
    const { memo, answers, ask } = fixture(100);
    for (const question of ['a', 'b', 'c']) {
      const one = memo.get(question, ask);
      answers.at(-1)!.resolve('x'.repeat(40));
      await one;
    }
    expect(memo.cache).to.include({ name: 'toys.answers', limitBytes: 100 });
    expect(memo.cache.bytes()).to.equal(84);
  });

  it('rejects all waiting callers on failure, and loads again for the next', async () => {
    const { memo, answers, ask } = fixture();
    const both = [failure(memo.get('how many?', ask)), failure(memo.get('how many?', ask))];
    const error = new Error('away');
    answers[0]!.reject(error);
    expect(await Promise.all(both)).to.deep.equal([error, error]);
    const again = memo.get('how many?', ask);
    answers[1]!.resolve('three');
    expect(await again).to.equal('three');
  });

  it('continues while a caller waits, and aborts when all callers have aborted', async () => {
    const { memo, answers, signals, ask } = fixture();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = failure(memo.get('how many?', ask, one.signal));
    const second = failure(memo.get('how many?', ask, other.signal));
    one.abort();
    expect(await first).to.be.instanceOf(Abandoned);
    expect(signals[0]!.aborted).to.equal(false);
    other.abort();
    expect(await second).to.be.instanceOf(Abandoned);
    expect(signals[0]!.aborted).to.equal(true);
    const third = memo.get('how many?', ask);
    expect(answers, 'an aborted load is not shared').to.have.length(2);
    answers[0]!.reject(new Error('stopped'));
    answers[1]!.resolve('three');
    expect(await third).to.equal('three');
  });

  it('removes its abort listeners when a load ends', async () => {
    const { memo, answers, ask } = fixture();
    const { signal } = new AbortController();
    const one = memo.get('how many?', ask, signal);
    answers[0]!.resolve('three');
    await one;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('does not load for an aborted caller', async () => {
    const { memo, answers, ask } = fixture();
    expect(await failure(memo.get('how many?', ask, AbortSignal.abort()))).to.be.instanceOf(Abandoned);
    expect(answers).to.have.length(0);
  });
});
