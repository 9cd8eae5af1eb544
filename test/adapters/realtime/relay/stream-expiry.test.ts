/** Streams end when their authority expires; expiry times may change. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { fakeClock, useFakeTimers } from '../../../support/fake-clock.js';
import { connectAs, head, record, relayWith, wardAudience } from '../../../support/toy-service.js';

describe('expiry of a relay stream', () => {
  it('ends it when its authority expires, and not before', async () => {
    const { relay } = relayWith([]);
    const client = record();
    const over = new Promise<void>((resolve) => client.onClose(resolve));
    const until = Date.now() + 30;
    relay.connect({ ...connectAs('ann'), until: { at: until, message: { type: 'EXPIRED' } } }, client);
    expect(client.ended).to.equal(undefined);
    await over;
    expect(Date.now()).to.be.at.least(until);
    expect(client.sent.map(({ message }) => message)).to.deep.equal([{ type: 'EXPIRED' }]);
    expect(client.ended).to.equal('over');
    relay.close();
  });

  it('follows an expiry time that is moved earlier or later', () => {
    const time = fakeClock();
    const release = useFakeTimers(time);
    const relay = createRelay({ audience: wardAudience, head, clock: time });
    try {
      const [later, sooner, other, endless] = [record(), record(), record(), record()];
      const until = { at: time.now() + 1000 };
      relay.connect({ keys: ['session:1', 'user:a'], until }, later);
      relay.connect({ keys: ['session:2', 'user:a'], until }, sooner);
      relay.connect({ keys: ['session:3', 'user:a'], until }, other);
      relay.connect({ keys: ['session:1', 'session:2'] }, endless);
      relay.until('session:1', time.now() + 3000);
      relay.until('session:2', time.now() + 500);
      const ended = () => [later, sooner, other, endless].map((each) => each.ended);
      time.pass(500);
      expect(ended()).to.deep.equal([undefined, 'over', undefined, undefined]);
      time.pass(2499);
      expect(ended()).to.deep.equal([undefined, 'over', 'over', undefined]);
      time.pass(1);
      expect(ended()).to.deep.equal(['over', 'over', 'over', undefined]);
    } finally {
      release();
      relay.close();
    }
  });

  it('holds no timer once its client has left: a session may last for weeks', () => {
    const time = fakeClock();
    const release = useFakeTimers(time);
    const relay = createRelay({ audience: wardAudience, head, clock: time });
    try {
      const client = record();
      relay.connect({ ...connectAs('ann'), until: { at: time.now() + 1000 } }, client);
      time.pass(1);
      expect(time.isDue(1000)).to.equal(true);
      client.leave();
      expect(time.isDue(1000)).to.equal(false);
    } finally {
      release();
      relay.close();
    }
  });

  it('works for sessions of weeks', () => {
    const time = fakeClock();
    let longest = 0;
    const release = useFakeTimers({
      after(ms, work) {
        longest = Math.max(longest, ms);
        return time.after(ms, work);
      },
    });
    const relay = createRelay({ audience: wardAudience, head, clock: time });
    try {
      const client = record();
      const weeks = 90 * 24 * 3_600_000;
      relay.connect({ ...connectAs('ann'), until: { at: time.now() + weeks } }, client);
      time.pass(weeks - 1);
      expect(client.ended).to.equal(undefined);
      time.pass(1);
      expect(client.ended).to.equal('over');
      expect(longest, 'a longer timer of node runs at once').to.be.below(2 ** 31);
    } finally {
      release();
      relay.close();
    }
  });

  it('ends it at once if its authority has already expired', async () => {
    const { relay } = relayWith([]);
    const client = record();
    const over = new Promise<void>((resolve) => client.onClose(resolve));
    relay.connect({ ...connectAs('ann'), until: { at: Date.now() - 1000 } }, client);
    await over;
    expect(client.ended).to.equal('over');
    relay.close();
  });
});
