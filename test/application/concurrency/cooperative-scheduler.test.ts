/** Long work in turns, waits that end, and work by the clock: nobody keeps anybody else waiting. */
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
/** Holds the event loop until something is so. */
const hold = (so: () => boolean) => {
  while (!so());
};

describe('turns', () => {
  it('come one each round of the event loop, in the order of those who wait', async () => {
    const came: string[] = [];
    let rounds = 0;
    const all = ['a', 'b', 'c'].map(async (name) => {
      await yieldToEventLoop();
      came.push(`${name}${rounds}`);
    });
    for (; rounds < 5; rounds++) await round();
    await Promise.all(all);
    expect(came.map(([name]) => name)).to.deep.equal(['a', 'b', 'c']);
    expect(new Set(came.map((each) => each.slice(1))).size).to.equal(3);
    const again = yieldToEventLoop();
    await again;
  });

  it('of one kind do not wait for those of another', async () => {
    const [mine, theirs] = [createSliceQueue(), createSliceQueue()];
    let came = 0;
    const many = Array.from({ length: 20 }, () => theirs.nextSlice().then(() => came++));
    await mine.nextSlice();
    expect(came).to.be.below(3);
    await Promise.all(many);
  });

  it('are over after a slice, and begin anew with the next', async () => {
    await yieldToEventLoop();
    hold(sliceExpired);
    // It comes, however busy the machine is.
    do await yieldToEventLoop();
    while (sliceExpired());
  });

  it('are for single work a breath every slice', async () => {
    const breathe = createYielder();
    let [pauses, others] = [0, 0];
    while (others < 3) {
      const breath = breathe();
      if (!breath) continue;
      pauses++;
      setImmediate(() => others++);
      await breath;
    }
    expect(pauses).to.be.greaterThan(2);
    while (breathe()) await round();
  });
});

describe('a wait', () => {
  it('is cut short by its signal, and never rejects', async () => {
    const stop = new AbortController();
    const paused = sleep(2 ** 30, stop.signal);
    stop.abort();
    await paused;
    await sleep(2 ** 30, AbortSignal.abort());
    await sleep(0, new AbortController().signal);
  });

  it('for a store ends: with its answer, its error, or Unavailable', async () => {
    expect(await withDeadline(1000, Promise.resolve('here'), 'the log')).to.equal('here');
    expect(await withDeadline(1000, 'at once', 'the log')).to.equal('at once');
    const error = new Error('broken');
    expect(await withDeadline(1000, Promise.reject(error), 'the log').catch((each) => each)).to.equal(error);
    const late = await withDeadline<Error>(1, new Promise(() => {}), 'the log').catch((each: Error) => each);
    expect(late).to.be.instanceOf(UnavailableError);
    expect(late.message).to.equal('the log did not answer within 1 ms');
  });
});

describe('periodic work', () => {
  const options = (leases: Leases, signal: AbortSignal) => ({
    name: 'toys.sweep',
    everyMs: 1,
    leases,
    logger: silentLogger,
    signal,
  });

  it('is done again and again by one of all, until it is stopped; then another may', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    const stop = new AbortController();
    let [runs, others] = [0, 0];
    await runPeriodically({
      ...options(leases, stop.signal),
      async run(each) {
        expect(each.aborted).to.equal(false);
        expect(await leases.holder('periodic:toys.sweep')).to.equal('one of these');
        if (++runs === 1) {
          const soon = new AbortController();
          const idle = runPeriodically({
            ...options(leases, soon.signal),
            run: async () => void others++,
          });
          await round();
          soon.abort();
          await idle;
        }
        if (runs === 3) stop.abort();
      },
    });
    expect([runs, others]).to.deep.equal([3, 0]);
    expect(await leases.holder('periodic:toys.sweep')).to.equal(undefined);
  });

  it('is told of when it fails, and tried again', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    const stop = new AbortController();
    const told: object[] = [];
    let runs = 0;
    await runPeriodically({
      ...options(leases, stop.signal),
      logger: { ...silentLogger, error: (fields) => told.push(fields) },
      async run() {
        if (++runs === 1) throw new Error('not now');
        stop.abort();
        throw new Error('stopped in the middle');
      },
    });
    expect(runs).to.equal(2);
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({ name: 'toys.sweep' });
    expect(await leases.holder('periodic:toys.sweep')).to.equal(undefined);
  });

  it('ends where the lease is lost, and is begun anew with the next', async () => {
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

  it('is not even begun where it is stopped already', async () => {
    const { leases } = memoryKernel(memoryWorld(), []);
    await runPeriodically({
      ...options(leases, AbortSignal.abort()),
      run: () => expect.fail(),
    });
  });
});
