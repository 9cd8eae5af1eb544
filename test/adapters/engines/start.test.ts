/** What the parent of an engine hears of its start, by messages as they come from the process. */
import { ChildProcess } from 'node:child_process';
import { expect } from 'chai';
import type { ChildMessage } from '../../../adapters/engines/child.js';
import { ready } from '../../../adapters/engines/start.js';

/** A process that says all this at once. */
function saying(child: ChildProcess, ...messages: readonly ChildMessage[]): void {
  for (const message of messages) child.emit('message', message);
}

const up = { url: 'esdb://127.0.0.1:1', port: 1, isNew: false };

describe('an engine that starts', () => {
  it('is heard to be up, whatever damage it tells of in the same moment', async () => {
    const child = new ChildProcess();
    const started = ready(child, 'eventstore', '/data');
    saying(child, { damaged: 10 }, { damaged: 20 }, { ready: up });
    expect(await started).to.deep.equal(up);
  });

  it('is heard to have failed, once its process has ended', async () => {
    const child = new ChildProcess();
    const started = ready(child, 'eventstore', '/data').catch((error: Error) => error);
    saying(child, { damaged: 10 }, { failed: 'the store is cut short', isDamaged: true });
    child.emit('exit', 1, null);
    expect(await started).to.have.property('name', 'StoreDamaged');
    expect(await started).to.match(/eventstore engine did not start: the store is cut short/);
  });
});
