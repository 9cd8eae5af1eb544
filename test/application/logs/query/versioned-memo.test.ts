/** Answers that many ask for: loaded once, cached while they hold, and stopped when nobody waits any more. */
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

describe('an answer that many ask for', () => {
  it('is asked for once by all who ask at once, and once more by those who ask another thing', async () => {
    const { memo, answers, ask } = fixture();
    const both = [memo.get('how many?', ask), memo.get('how many?', ask)];
    const other = memo.get('how large?', ask);
    expect(answers).to.have.length(2);
    answers[0]!.resolve('three');
    answers[1]!.resolve('two');
    expect(await Promise.all(both)).to.deep.equal(['three', 'three']);
    expect(await other).to.equal('two');
  });

  it('is kept until something changes', async () => {
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

  it('is asked for again after 200 ms: of a change elsewhere this node may not have heard', async () => {
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

  it('is not kept when it was memo for before the change', async () => {
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

  it('is kept within a bound of bytes', async () => {
    const { memo, answers, ask } = fixture(100);
    for (const question of ['a', 'b', 'c']) {
      const one = memo.get(question, ask);
      answers.at(-1)!.resolve('x'.repeat(40));
      await one;
    }
    expect(memo.cache).to.include({ name: 'toys.answers', limitBytes: 100 });
    expect(memo.cache.bytes()).to.equal(84);
  });

  it('is told to fail to all who wait, and memo for again by the next', async () => {
    const { memo, answers, ask } = fixture();
    const both = [failure(memo.get('how many?', ask)), failure(memo.get('how many?', ask))];
    const error = new Error('away');
    answers[0]!.reject(error);
    expect(await Promise.all(both)).to.deep.equal([error, error]);
    const again = memo.get('how many?', ask);
    answers[1]!.resolve('three');
    expect(await again).to.equal('three');
  });

  it('is waited for by the rest when one has gone, and stopped when all have', async () => {
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
    expect(answers, 'what was stopped is not joined').to.have.length(2);
    answers[0]!.reject(new Error('stopped'));
    answers[1]!.resolve('three');
    expect(await third).to.equal('three');
  });

  it('leaves nothing behind with those who waited for it', async () => {
    const { memo, answers, ask } = fixture();
    const { signal } = new AbortController();
    const one = memo.get('how many?', ask, signal);
    answers[0]!.resolve('three');
    await one;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('is not even memo for by somebody who has gone already', async () => {
    const { memo, answers, ask } = fixture();
    expect(await failure(memo.get('how many?', ask, AbortSignal.abort()))).to.be.instanceOf(Abandoned);
    expect(answers).to.have.length(0);
  });
});
