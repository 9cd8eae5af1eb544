/** Relayed signals: sent directly at first, with backpressure beyond a burst, and bounded in size. */
import { expect } from 'chai';
import { SIGNAL_BYTES } from '../../../application/meeting/message-limits.js';
import { createSignalRelay } from '../../../application/meeting/relay-signal.js';
import { applyEvents, initialState } from '../../../domain/meeting/state.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { joined, opened, roomId } from '../../support/meeting-fixtures.js';

describe('relayed signals between participants', () => {
  const state = applyEvents(initialState, [opened(), joined('ada', true), joined('bob'), joined('cleo')]);

  function fixture() {
    const deliveries: string[] = [];
    const relayed: object[] = [];
    let ms = 0;
    let room = Promise.resolve();
    const signals = createSignalRelay({
      live: {
        send: ({ to }) => void deliveries.push(`${to.id} direct`),
        sendWithBackpressure({ to }) {
          deliveries.push(`${to.id} backpressure`);
          return room;
        },
      },
      rooms: () => ({ get: () => state }),
      onRelayed: (each) => void relayed.push(each),
      monotonic: { now: () => ms },
    });
    return {
      deliveries,
      relayed,
      /** Blocks the recipients until the returned function is called. */
      block(): () => void {
        let release = () => {};
        room = new Promise((resolve) => {
          release = resolve;
        });
        return release;
      },
      after: (more: number) => {
        ms += more;
      },
      relay: (from: string, targetId: string, more: object, mode: 'direct' | 'backpressure' = 'direct') =>
        signals.relay({ roomId, participantId: from }, { type: 'offer', targetId, ...more }, mode),
    };
  }

  it('are sent directly up to a burst per recipient, and with backpressure beyond it', async () => {
    const { deliveries, relay, after } = fixture();
    const sdp = 'x'.repeat(SIGNAL_BYTES.burst / 4);
    const offers = (count: number, to: string) => {
      for (let each = 0; each < count; each++) relay(each % 2 ? 'ada' : 'cleo', to, { sdp });
      return deliveries.splice(0);
    };
    expect(offers(3, 'bob')).to.deep.equal(Array(3).fill('bob direct'));
    expect(offers(3, 'bob')).to.deep.equal(Array(3).fill('bob backpressure'));
    expect(offers(1, 'ada')).to.deep.equal(['ada direct']);
    await new Promise(setImmediate);
    after(60_000);
    expect(offers(1, 'bob')).to.deep.equal(['bob direct']);
    relay('ada', 'bob', {}, 'backpressure');
    expect(deliveries).to.deep.equal(['bob backpressure']);
  });

  it('keep their order per sender, and block a sender only with many pending signals', async () => {
    const { relay, deliveries, block } = fixture();
    relay('cleo', 'bob', { sdp: 'x'.repeat(SIGNAL_BYTES.burst - 1000) });
    const read = block();
    const isBlocked = async (result: unknown) => {
      let isOver = result === undefined;
      void (result as Promise<void> | undefined)?.then(() => {
        isOver = true;
      });
      await new Promise(setImmediate);
      return !isOver;
    };
    const large = { sdp: 'x'.repeat(2000) };
    expect(await isBlocked(relay('ada', 'bob', large))).to.equal(false);
    // Small enough to be sent directly, if nothing were pending.
    relay('ada', 'bob', {});
    relay('ada', 'cleo', {});
    relay('cleo', 'bob', {});
    const passed = ['bob backpressure', 'bob backpressure', 'cleo direct', 'bob direct'];
    expect(deliveries.slice(1)).to.deep.equal(passed);
    let accepted = 1;
    while (!(await isBlocked(relay('ada', 'bob', large)))) accepted++;
    expect(accepted).to.be.within(15, 25);
    read();
    await new Promise(setImmediate);
    expect(await isBlocked(relay('ada', 'bob', {}))).to.equal(false);
    expect(deliveries.at(-1)).to.equal('bob direct');
    block();
    expect(await isBlocked(relay('ada', 'bob', large)), 'nothing is pending').to.equal(false);
  });

  it('are counted per room if the recipient is present', () => {
    const { relay, relayed, deliveries } = fixture();
    relay('ada', 'bob', {});
    relay('ada', 'eve', {});
    expect(relay('eve', 'bob', {})).to.include({ rejected: 'meeting/not-joined' });
    expect(deliveries).to.deep.equal(['bob direct']);
    expect(relayed).to.deep.equal([{ roomId, meetingId: state.meetingId }]);
  });

  it('are rejected if too large when serialized, or nested too deeply', () => {
    const { deliveries, relay } = fixture();
    const numbers = (count: number) => ({ more: Array(count).fill(1e20) });
    for (const more of [numbers(200_000), { more: JSON.parse('['.repeat(20_000) + ']'.repeat(20_000)) }]) {
      const refused = relay('ada', 'bob', more);
      expect(refused && isRejection(refused as object) && (refused as { rejected: string }).rejected).to.equal(
        'meeting/too-large',
      );
    }
    relay('ada', 'bob', numbers(40_000));
    expect(deliveries).to.deep.equal(['bob backpressure']);
  });
});
