/** Undoing a failed start, with a time limit. */
import { expect } from 'chai';
import { undoStart } from '../../adapters/platform/process/shutdown.js';

describe('a failed start', () => {
  const messages: string[] = [];
  const note = (_: object, message: string) => messages.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  beforeEach(() => messages.splice(0));

  it('is undone step by step, even if a step fails', async () => {
    const done: string[] = [];
    const steps = ['one', 'two', 'three'].map((name) => ({
      name,
      run() {
        done.push(name);
        if (name === 'two') throw new Error('no');
      },
    }));
    await undoStart(steps, logger);
    expect(done).to.deep.equal(['one', 'two', 'three']);
    expect(messages).to.deep.equal(['could not stop cleanly']);
  });

  it('ends even if a step hangs, as with an unavailable store', async () => {
    await undoStart([{ name: 'stores', run: () => new Promise(() => {}) }], logger, 1);
    expect(messages).to.deep.equal(['stopping took too long']);
  });
});
