/** Reads of commands to the end of the log: they end also if the store never answers again. */
import { expect } from 'chai';
import { type Batch, UnavailableError } from '../../../application/ports/index.js';
import { untilCaughtUp } from '../../../application/subscription/until-caught-up.js';
import { fakeClock, useFakeTimers } from '../../support/fake-clock.js';

describe('a read to the end of the log', () => {
  it('ends with a batch that has caught up', async () => {
    async function* log(): AsyncGenerator<Batch<number>> {
      yield { events: [1], caughtUp: false };
      yield { events: [2], caughtUp: true };
      yield { events: [3], caughtUp: false };
    }
    const events: number[] = [];
    for await (const batch of untilCaughtUp(log())) events.push(...batch.events);
    expect(events).to.deep.equal([1, 2]);
  });

  it('fails once the store has been silent for a minute', async () => {
    const time = fakeClock();
    const realTimers = useFakeTimers(time);
    try {
      async function* log(): AsyncGenerator<Batch<number>> {
        yield { events: [1], caughtUp: false };
        await new Promise(() => {});
      }
      const batches = untilCaughtUp(log());
      await batches.next();
      const next = batches.next().catch((error) => error);
      await new Promise(setImmediate);
      time.pass(60_000);
      expect(await next).to.be.instanceOf(UnavailableError);
    } finally {
      realTimers();
    }
  });
});
