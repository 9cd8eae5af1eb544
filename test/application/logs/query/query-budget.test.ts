/** The checkpoints of a query: its time budget and its abort signal. */
import { expect } from 'chai';
import {
  Abandoned,
  createQueryBudget,
  TimedOut,
  untilAborted,
  yieldOnly,
} from '../../../../application/logs/query/query-budget.js';

describe('the checkpoint of a query', () => {
  it('throws only after the time budget is exceeded', () => {
    let now = 100;
    const checkpoint = createQueryBudget({ now: () => now }, 200, new AbortController().signal);
    checkpoint();
    now = 200;
    checkpoint();
    now = 201;
    expect(checkpoint).to.throw(TimedOut);
  });

  it('throws when all clients have disconnected', () => {
    const disconnected = new AbortController();
    const checkpoints = [
      createQueryBudget({ now: () => 0 }, 200, disconnected.signal),
      untilAborted(disconnected.signal),
    ];
    for (const checkpoint of checkpoints) checkpoint();
    disconnected.abort();
    for (const checkpoint of checkpoints) expect(checkpoint).to.throw(Abandoned);
    untilAborted(undefined)();
  });

  it('yields to the event loop when its time slice expires', async () => {
    let others = 0;
    const timer = setInterval(() => others++, 0);
    const pauses: Promise<void>[] = [];
    while (others < 3) {
      const pause = yieldOnly();
      if (!pause) continue;
      pauses.push(pause);
      await pause;
    }
    clearInterval(timer);
    expect(pauses.length).to.be.greaterThan(0);
  });
});
