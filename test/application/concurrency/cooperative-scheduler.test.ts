/** Cooperative scheduling: time slices, sleeps, deadlines and scheduled jobs. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import {
  createSliceQueue,
  createYielder,
  sliceExpired,
  yieldToEventLoop,
} from '../../../application/concurrency/cooperative-scheduler.js';
import { sleep, withDeadline } from '../../../application/concurrency/deadline.js';
import type { Leases } from '../../../application/ports/index.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { runPeriodically } from '../../../application/subscription/leader-election.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const round = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Blocks the event loop until the condition holds. */
const blockUntil = (condition: () => boolean) => {
  while (!condition());
};

describe('time slices', () => {
  it('are granted one per round of the event loop, first in, first out', async () => {
    const granted: string[] = [];
    let rounds = 0;
    const all = ['a', 'b', 'c'].map(async (name) => {
      await yieldToEventLoop();
      granted.push(`${name}${rounds}`);
    });
    for (; rounds < 5; rounds++) await round();
    await Promise.all(all);
    expect(granted.map(([name]) => name)).to.deep.equal(['a', 'b', 'c']);
    expect(new Set(granted.map((each) => each.slice(1))).size).to.equal(3);
    const again = yieldToEventLoop();
    await again;
  });

  it('of one queue do not wait for another queue', async () => {
    const [own, other] = [createSliceQueue(), createSliceQueue()];
    let granted = 0;
    const many = Array.from({ length: 20 }, () => other.nextSlice().then(() => granted++));
    await own.nextSlice();
    expect(granted).to.be.below(3);
    await Promise.all(many);
  });

  it('expire, and start again with the next grant', async () => {
    await yieldToEventLoop();
    blockUntil(sliceExpired);
    // The machine may be so busy that a slice expires before it is checked.
    do await yieldToEventLoop();
    while (sliceExpired());
  });

  it('let a long job yield once per slice', async () => {
    const nextYield = createYielder();
    let [pauses, others] = [0, 0];
    while (others < 3) {
      const pause = nextYield();
      if (!pause) continue;
      pauses++;
      setImmediate(() => others++);
      await pause;
    }
    expect(pauses).to.be.greaterThan(2);
    while (nextYield()) await round();
  });
});

describe('a wait', () => {
  it('sleeps until its signal aborts, and never rejects', async () => {
    const stop = new AbortController();
    const paused = sleep(2 ** 30, stop.signal);
    stop.abort();
    await paused;
    await sleep(2 ** 30, AbortSignal.abort());
    await sleep(0, new AbortController().signal);
  });

  it('has a deadline: it ends with the answer, the error or UnavailableError', async () => {
    expect(await withDeadline(1000, Promise.resolve('answer'), 'the log')).to.equal('answer');
    expect(await withDeadline(1000, 'immediate', 'the log')).to.equal('immediate');
    const error = new Error('broken');
    expect(await withDeadline(1000, Promise.reject(error), 'the log').catch((each) => each)).to.equal(error);
    const timedOut = await withDeadline<Error>(1, new Promise(() => {}), 'the log').catch((each: Error) => each);
    expect(timedOut).to.be.instanceOf(UnavailableError);
    expect(timedOut.message).to.equal('the log did not answer within 1 ms');
  });
});

describe('scheduled jobs', () => {
  const options = (leases: Leases, signal: AbortSignal) => ({
    name: 'toys.sweep',
    everyMs: 1,
    leases,
    logger: silentLogger,
    signal,
  });

  it('run repeatedly on one node at a time, until stopped', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    const stop = new AbortController();
    let [runs, others] = [0, 0];
    await runPeriodically({
      ...options(leases, stop.signal),
      async run(each) {
        expect(each.aborted).to.equal(false);
        expect(await leases.holder('periodic:toys.sweep')).to.equal('one of these');
        if (++runs === 1) {
          const shortLived = new AbortController();
          const idle = runPeriodically({
            ...options(leases, shortLived.signal),
            run: async () => void others++,
          });
          await round();
          shortLived.abort();
          await idle;
        }
        if (runs === 3) stop.abort();
      },
    });
    expect([runs, others]).to.deep.equal([3, 0]);
    expect(await leases.holder('periodic:toys.sweep')).to.equal(undefined);
  });

  it('are logged and retried when they fail', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    const stop = new AbortController();
    const logged: object[] = [];
    let runs = 0;
    await runPeriodically({
      ...options(leases, stop.signal),
      logger: { ...silentLogger, error: (fields) => logged.push(fields) },
      async run() {
        if (++runs === 1) throw new Error('not now');
        stop.abort();
        throw new Error('stopped in the middle');
      },
    });
    expect(runs).to.equal(2);
    expect(logged).to.have.length(1);
    expect(logged[0]).to.deep.include({ name: 'toys.sweep' });
    expect(await leases.holder('periodic:toys.sweep')).to.equal(undefined);
  });

  it('stop when the lease is lost, and start again with the next', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    const stop = new AbortController();
    const lost = new AbortController();
    let acquired = 0;
    const fragile: Leases = {
      ...leases,
      async acquire(name) {
        const lease = await leases.acquire(name);
        return lease && { ...lease, lost: acquired++ === 0 ? lost.signal : lease.lost };
      },
    };
    const stopped: boolean[] = [];
    await runPeriodically({
      ...options(fragile, stop.signal),
      async run(each) {
        if (acquired > 1) stop.abort();
        lost.abort();
        stopped.push(each.aborted);
      },
    });
    expect(acquired).to.equal(2);
    expect(stopped).to.deep.equal([true, true]);
  });

  it('do not start when already stopped', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    await runPeriodically({
      ...options(leases, AbortSignal.abort()),
      run: () => expect.fail(),
    });
  });
});
