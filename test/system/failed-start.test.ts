/** What becomes of a start that has failed: it is undone, but is not waited for without end. */
import { expect } from 'chai';
import { undoStart } from '../../adapters/platform/process/shutdown.js';

describe('a start that has failed', () => {
  const told: string[] = [];
  const note = (_: object, message: string) => told.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  beforeEach(() => told.splice(0));

  it('is undone step by step, whatever fails', async () => {
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
    expect(told).to.deep.equal(['could not stop cleanly']);
  });

  it('ends though a step does not, as where a store answers no more', async () => {
    await undoStart([{ name: 'stores', run: () => new Promise(() => {}) }], logger, 1);
    expect(told).to.deep.equal(['stopping took too long']);
  });
});
