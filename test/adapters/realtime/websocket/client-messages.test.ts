/** Messages per second of one client; time spent waiting for answers does not count against it. */
import { expect } from 'chai';
import { createRate } from '../../../../adapters/realtime/websocket/client-messages.js';
import { fakeClock } from '../../../support/fake-clock.js';

const PER_SECOND = 10;

describe('the message rate of a client', () => {
  let time: ReturnType<typeof fakeClock>;
  let rate: ReturnType<typeof createRate>;
  const take = (count: number) => Array.from({ length: count }, () => rate.next());
  /** How many messages pass before the first refusal, and which refusal it is. */
  function passing() {
    for (let count = 0; ; count++) {
      const found = rate.next();
      if (found) return [count, found];
    }
  }

  beforeEach(() => {
    time = fakeClock();
    rate = createRate(PER_SECOND, time);
  });

  it('is exceeded again only in the next second, or at twice the limit', () => {
    expect(passing()).to.deep.equal([PER_SECOND, 'first']);
    time.pass(1000);
    expect(passing()).to.deep.equal([PER_SECOND, 'again']);
    time.pass(5000);
    expect(passing()).to.deep.equal([PER_SECOND, 'first']);
    expect(take(PER_SECOND).slice(-2)).to.deep.equal(['first', 'again']);
  });

  it('spreads messages that arrived while nothing was answered over that time, up to ten seconds', () => {
    rate.held(1000);
    rate.held(1500);
    expect(passing()).to.deep.equal([PER_SECOND + 25, 'first']);
    time.pass(5000);
    rate.held(60_000);
    expect(passing()).to.deep.equal([PER_SECOND + 100, 'first']);
    time.pass(5000);
    expect(passing()).to.deep.equal([PER_SECOND, 'first']);
  });
});
