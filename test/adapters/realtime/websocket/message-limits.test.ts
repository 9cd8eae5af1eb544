/** How many messages one client may send in a second, and what waits of ours is not counted against it. */
import { expect } from 'chai';
import { createRate } from '../../../../adapters/realtime/websocket/message-limits.js';
import { fakeClock } from '../../../support/fake-clock.js';

const PER_SECOND = 10;

describe('the rate of a client', () => {
  let time: ReturnType<typeof fakeClock>;
  let rate: ReturnType<typeof createRate>;
  const say = (count: number) => Array.from({ length: count }, () => rate.next());
  /** How many pass before the first that is too many, and what that one is. */
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

  it('is exceeded again only in the second after, or by twice too many', () => {
    expect(passing()).to.deep.equal([PER_SECOND, 'first']);
    time.pass(1000);
    expect(passing()).to.deep.equal([PER_SECOND, 'again']);
    time.pass(5000);
    expect(passing()).to.deep.equal([PER_SECOND, 'first']);
    expect(say(PER_SECOND).slice(-2)).to.deep.equal(['first', 'again']);
  });

  it('counts what came while nothing was answered over all of that time, for ten seconds at most', () => {
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
