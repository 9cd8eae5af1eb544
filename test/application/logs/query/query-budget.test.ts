/** How long a query goes on: within its budget, and while somebody waits for it. */
import { expect } from 'chai';
import {
  Abandoned,
  createQueryBudget,
  TimedOut,
  untilAborted,
  yieldOnly,
} from '../../../../application/logs/query/query-budget.js';

describe('the pace of a query', () => {
  it('gives up after its budget, not at its end', () => {
    let now = 100;
    const checkpoint = createQueryBudget({ now: () => now }, 200, new AbortController().signal);
    checkpoint();
    now = 200;
    checkpoint();
    now = 201;
    expect(checkpoint).to.throw(TimedOut);
  });

  it('gives up when nobody waits any more', () => {
    const gone = new AbortController();
    const paces = [createQueryBudget({ now: () => 0 }, 200, gone.signal), untilAborted(gone.signal)];
    for (const checkpoint of paces) checkpoint();
    gone.abort();
    for (const checkpoint of paces) expect(checkpoint).to.throw(Abandoned);
    untilAborted(undefined)();
  });

  it('lets others have their turn when its own is over, and goes on at once after that', async () => {
    let others = 0;
    const timer = setInterval(() => others++, 0);
    const turns: Promise<void>[] = [];
    while (others < 3) {
      const turn = yieldOnly();
      if (!turn) continue;
      turns.push(turn);
      await turn;
    }
    clearInterval(timer);
    expect(turns.length).to.be.greaterThan(0);
  });
});
