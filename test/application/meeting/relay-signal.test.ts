/** What is passed on in meetings: told at once, but in masses only as fast as it is read, and never larger than it may come. */
import { expect } from 'chai';
import { SIGNAL_BYTES } from '../../../application/meeting/message-limits.js';
import { createSignalRelay } from '../../../application/meeting/relay-signal.js';
import { applyEvents, initialState } from '../../../domain/meeting/state.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { joined, opened, roomId } from '../../support/meeting-fixtures.js';

describe('what one person of a meeting tells another', () => {
  const state = applyEvents(initialState, [opened(), joined('ada', true), joined('bob'), joined('cleo')]);

  function relaying() {
    const went: string[] = [];
    const relayed: object[] = [];
    let ms = 0;
    let room = Promise.resolve();
    const signals = createSignalRelay({
      live: {
        send: ({ to }) => void went.push(`${to.id} is told`),
        sendWithBackpressure({ to }) {
          went.push(`${to.id} is passed`);
          return room;
        },
      },
      room: () => state,
      onRelayed: (each) => void relayed.push(each),
      monotonic: { now: () => ms },
    });
    return {
      went,
      relayed,
      /** Nobody has room for more until it is let go. */
      hold(): () => void {
        let letGo = () => {};
        room = new Promise((resolve) => {
          letGo = resolve;
        });
        return letGo;
      },
      after: (more: number) => {
        ms += more;
      },
      say: (from: string, targetId: string, more: object, how: 'direct' | 'backpressure' = 'direct') =>
        signals.relay({ roomId, participantId: from }, { type: 'offer', targetId, ...more }, how),
    };
  }

  it('is told at once; in masses, whoever says it waits until it is read, and others are still told', async () => {
    const { went, say, after } = relaying();
    const sdp = 'x'.repeat(SIGNAL_BYTES.burst / 4);
    const offers = (count: number, to: string) => {
      for (let each = 0; each < count; each++) say(each % 2 ? 'ada' : 'cleo', to, { sdp });
      return went.splice(0);
    };
    expect(offers(3, 'bob')).to.deep.equal(Array(3).fill('bob is told'));
    expect(offers(3, 'bob')).to.deep.equal(Array(3).fill('bob is passed'));
    expect(offers(1, 'ada')).to.deep.equal(['ada is told']);
    await new Promise(setImmediate);
    after(60_000);
    expect(offers(1, 'bob')).to.deep.equal(['bob is told']);
    say('ada', 'bob', {}, 'backpressure');
    expect(went).to.deep.equal(['bob is passed']);
  });

  it('stays in order where it waits, and holds up nobody else until there is much of it', async () => {
    const { say, went, hold } = relaying();
    say('cleo', 'bob', { sdp: 'x'.repeat(SIGNAL_BYTES.burst - 1000) });
    const read = hold();
    const isHeldUp = async (said: unknown) => {
      let isOver = said === undefined;
      void (said as Promise<void> | undefined)?.then(() => {
        isOver = true;
      });
      await new Promise(setImmediate);
      return !isOver;
    };
    const large = { sdp: 'x'.repeat(2000) };
    expect(await isHeldUp(say('ada', 'bob', large))).to.equal(false);
    // It is so small that it could be told at once.
    say('ada', 'bob', {});
    say('ada', 'cleo', {});
    say('cleo', 'bob', {});
    const passed = ['bob is passed', 'bob is passed', 'cleo is told', 'bob is told'];
    expect(went.slice(1)).to.deep.equal(passed);
    let most = 1;
    while (!(await isHeldUp(say('ada', 'bob', large)))) most++;
    expect(most).to.be.within(15, 25);
    read();
    await new Promise(setImmediate);
    expect(await isHeldUp(say('ada', 'bob', {}))).to.equal(false);
    expect(went.at(-1)).to.equal('bob is told');
    hold();
    expect(await isHeldUp(say('ada', 'bob', large)), 'as if nothing had waited').to.equal(false);
  });

  it('is counted for its room where it went to somebody, and not where nobody is there', () => {
    const { say, relayed, went } = relaying();
    say('ada', 'bob', {});
    say('ada', 'eve', {});
    expect(say('eve', 'bob', {})).to.include({ rejected: 'meeting/not-joined' });
    expect(went).to.deep.equal(['bob is told']);
    expect(relayed).to.deep.equal([{ roomId, meetingId: state.meetingId }]);
  });

  it('is refused where written out it is too large, or nested too deep', () => {
    const { went, say } = relaying();
    const numbers = (count: number) => ({ more: Array(count).fill(1e20) });
    for (const more of [numbers(200_000), { more: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) }]) {
      const refused = say('ada', 'bob', more);
      expect(refused && isRejection(refused as object) && (refused as { rejected: string }).rejected).to.equal(
        'meeting/too-large',
      );
    }
    say('ada', 'bob', numbers(40_000));
    expect(went).to.deep.equal(['bob is passed']);
  });
});
