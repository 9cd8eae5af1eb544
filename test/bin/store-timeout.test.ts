/** Retries of a long command when a store times out. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { UnavailableError } from '../../application/ports/index.js';
import { createStoreRetries } from '../../bin/commands/retry-store.js';

describe('retrying a command after store timeouts', () => {
  const silent = new UnavailableError('MongoDB did not answer within 3500 ms');
  const of = (timeoutMs: number, signal = new AbortController().signal) => {
    const notes: string[] = [];
    const note = ({ message }: Error) => void notes.push(message);
    return { notes, retries: createStoreRetries(signal, note, { timeoutMs, retryMs: 0 }) };
  };
  /** Outcomes of the attempts, in order. */
  const attempts = (...ends: readonly (Error | string)[]) => {
    const left = [...ends];
    return async () => {
      const end = left.shift();
      if (typeof end === 'string') return end;
      throw end ?? new Error('once too often');
    };
  };

  it('prints a note, tries again and returns the result', async () => {
    const { notes, retries } = of(Number.POSITIVE_INFINITY);
    expect(await retries.run(attempts(silent, silent, 'done'))).to.equal('done');
    expect(notes).to.deep.equal([silent.message, silent.message]);
  });

  it('ends with other errors, after its limit, and on abort', async () => {
    const wrong = new Error('wrong');
    expect(await rejection(of(Number.POSITIVE_INFINITY).retries.run(attempts(wrong)))).to.equal(wrong);
    const ended = of(-1);
    expect(await rejection(ended.retries.run(attempts(silent)))).to.equal(silent);
    expect(await rejection(of(Infinity, AbortSignal.abort()).retries.run(attempts(silent)))).to.equal(silent);
    expect(ended.notes).to.deep.equal([]);
  });
});
