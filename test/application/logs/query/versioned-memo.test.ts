/** Answers that many ask for: asked once, kept while they hold, and stopped when nobody waits any more. */
import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { Abandoned } from '../../../../application/logs/query/query-budget.js';
import { createVersionedMemo } from '../../../../application/logs/query/versioned-memo.js';

function fixture(limitBytes = 1000) {
  let [version, now] = [1, 0];
  const asked = createVersionedMemo<string>({
    name: 'toys.answers',
    version: () => version,
    limitBytes,
    sizeOf: (answer) => answer.length,
    now: () => now,
  });
  const signals: AbortSignal[] = [];
  const answers: { resolve: (answer: string) => void; reject: (error: unknown) => void }[] = [];
  return {
    asked,
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
    const { asked, answers, ask } = fixture();
    const both = [asked.once('how many?', ask), asked.once('how many?', ask)];
    const other = asked.once('how large?', ask);
    expect(answers).to.have.length(2);
    answers[0]!.resolve('three');
    answers[1]!.resolve('two');
    expect(await Promise.all(both)).to.deep.equal(['three', 'three']);
    expect(await other).to.equal('two');
  });

  it('is kept until something changes', async () => {
    const { asked, answers, ask, change } = fixture();
    const first = asked.once('how many?', ask);
    answers[0]!.resolve('three');
    await first;
    expect(await asked.once('how many?', ask)).to.equal('three');
    expect(asked.cache.bytes()).to.equal('three'.length + 2 * 'how many?'.length);
    change();
    const second = asked.once('how many?', ask);
    expect(answers).to.have.length(2);
    expect(asked.cache.bytes()).to.equal(0);
    answers[1]!.resolve('four');
    expect(await second).to.equal('four');
  });

  it('is asked for again after 200 ms: of a change elsewhere this node may not have heard', async () => {
    const { asked, answers, ask, pass } = fixture();
    const first = asked.once('how many?', ask);
    answers[0]!.resolve('three');
    await first;
    pass(200);
    expect(await asked.once('how many?', ask)).to.equal('three');
    pass(1);
    const second = asked.once('how many?', ask);
    answers[1]!.resolve('four');
    expect(await second).to.equal('four');
    pass(200);
    expect(await asked.once('how many?', ask)).to.equal('four');
  });

  it('is not kept when it was asked for before the change', async () => {
    const { asked, answers, ask, change } = fixture();
    const old = asked.once('how many?', ask);
    change();
    const fresh = asked.once('how many?', ask);
    answers[0]!.resolve('three');
    expect(await old).to.equal('three');
    expect(asked.cache.bytes()).to.equal(0);
    const joined = asked.once('how many?', ask);
    expect(answers).to.have.length(2);
    answers[1]!.resolve('four');
    expect(await Promise.all([fresh, joined])).to.deep.equal(['four', 'four']);
  });

  it('is kept within a bound of bytes', async () => {
    const { asked, answers, ask } = fixture(100);
    for (const question of ['a', 'b', 'c']) {
      const one = asked.once(question, ask);
      answers.at(-1)!.resolve('x'.repeat(40));
      await one;
    }
    expect(asked.cache).to.include({ name: 'toys.answers', limitBytes: 100 });
    expect(asked.cache.bytes()).to.equal(84);
  });

  it('is told to fail to all who wait, and asked for again by the next', async () => {
    const { asked, answers, ask } = fixture();
    const both = [failure(asked.once('how many?', ask)), failure(asked.once('how many?', ask))];
    const error = new Error('away');
    answers[0]!.reject(error);
    expect(await Promise.all(both)).to.deep.equal([error, error]);
    const again = asked.once('how many?', ask);
    answers[1]!.resolve('three');
    expect(await again).to.equal('three');
  });

  it('is waited for by the rest when one has gone, and stopped when all have', async () => {
    const { asked, answers, signals, ask } = fixture();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = failure(asked.once('how many?', ask, one.signal));
    const second = failure(asked.once('how many?', ask, other.signal));
    one.abort();
    expect(await first).to.be.instanceOf(Abandoned);
    expect(signals[0]!.aborted).to.equal(false);
    other.abort();
    expect(await second).to.be.instanceOf(Abandoned);
    expect(signals[0]!.aborted).to.equal(true);
    const third = asked.once('how many?', ask);
    expect(answers, 'what was stopped is not joined').to.have.length(2);
    answers[0]!.reject(new Error('stopped'));
    answers[1]!.resolve('three');
    expect(await third).to.equal('three');
  });

  it('leaves nothing behind with those who waited for it', async () => {
    const { asked, answers, ask } = fixture();
    const { signal } = new AbortController();
    const one = asked.once('how many?', ask, signal);
    answers[0]!.resolve('three');
    await one;
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('is not even asked for by somebody who has gone already', async () => {
    const { asked, answers, ask } = fixture();
    expect(await failure(asked.once('how many?', ask, AbortSignal.abort()))).to.be.instanceOf(Abandoned);
    expect(answers).to.have.length(0);
  });
});
