/** Worker threads: calls, callbacks, cancellation, and replacement after a crash. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@annals/engines/testing/children.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createWorkerThread } from '../../../../adapters/platform/process/worker.js';
import { UnavailableError } from '../../../../application/ports/index.js';

class Tired extends Error {
  override readonly name = 'Tired';
}

describe('a worker thread', function () {
  this.timeout(30_000);
  const thread = createWorkerThread({
    module: new URL('./thread-entry.js', import.meta.url),
    data: { some: 'data' },
    handlers: { triple: (_, number: number) => 3 * number },
    errorClasses: [Tired],
    heapMb: 48,
    logger: silentLogger,
  });
  after(() => thread.close());

  const failure = (result: Promise<unknown>) =>
    result.then(
      () => expect.fail(),
      (error) => error,
    );

  it('answers concurrent callers separately', async () => {
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => thread.call('double', [n])));
    expect(answers).to.deep.equal(numbers.map((n) => 2 * n));
    expect(await thread.call('given', [])).to.deep.equal({ some: 'data' });
  });

  it('can call back while it works', async () => {
    expect(await thread.call('askBack', [5])).to.equal(16);
  });

  it('fails with the error it threw', async () => {
    expect(await failure(thread.call('fail', [true])))
      .to.be.instanceOf(Tired)
      .with.property('message', 'enough');
    const bug = await failure(thread.call('fail', [false]));
    expect(bug).to.be.instanceOf(Error).with.property('message', 'TypeError: a bug');
    expect(bug).not.to.be.instanceOf(Tired);
  });

  it('is notified when its caller aborts, also if that was before the call', async () => {
    const leave = new AbortController();
    const waiting = thread.call('untilStopped', [], leave.signal);
    expect(await thread.call('double', [1])).to.equal(2);
    leave.abort();
    expect(await waiting).to.equal('stopped');
    expect(await thread.call('untilStopped', [], leave.signal)).to.equal('stopped');
  });

  for (const end of ['die', 'devour'])
    it(`is replaced after it died (${end})`, async () => {
      const waiting = failure(thread.call('untilStopped', []));
      expect(await failure(thread.call(end, []))).to.be.instanceOf(UnavailableError);
      expect(await waiting).to.be.instanceOf(UnavailableError);
      expect(await thread.call('double', [4])).to.equal(8);
    });

  it('does not keep its process alive', async () => {
    const alone = killOnExit(fork(fileURLToPath(new URL('./idle-process.js', import.meta.url))));
    expect(await once(alone, 'exit')).to.deep.equal([0, null]);
  });

  it('answers nothing once closed', async () => {
    const waiting = failure(thread.call('untilStopped', []));
    await thread.close();
    expect(await waiting).to.be.instanceOf(UnavailableError);
    expect(await failure(thread.call('double', [1]))).to.be.instanceOf(UnavailableError);
  });
});
