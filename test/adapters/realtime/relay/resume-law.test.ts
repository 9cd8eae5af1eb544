/** Properties of the relay: snapshots and frames, missed frames, and the resume buffer. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { createResumeWindow } from '../../../../application/subscription/live-feed.js';
import { at, record, types, type WardEvent, wardAudience } from '../../../support/toy-service.js';

const ward = fc.constantFrom('w', 'v');
const person = fc.constantFrom('ann', 'bob', 'cy');
const event: fc.Arbitrary<WardEvent> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('Entered' as const), data: fc.record({ ward, person }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('Left' as const), data: fc.record({ ward, person }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('Wrote' as const),
      data: fc.record({ ward, text: fc.string() }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('Closed' as const), data: fc.record({ ward }) }) },
);
/** The log is ahead of this relay. */
const head = async () => 1000n;
const history = fc.array(event, { maxLength: 40 });

/** What a client can know: its wards, who else is in them, and messages to it. */
interface View {
  readonly wards: { readonly [ward: string]: readonly string[] };
}

/** The view as a client would fetch it. */
function snapshot(state: { readonly [ward: string]: readonly string[] }, person: string): View {
  return { wards: Object.fromEntries(Object.entries(state).filter(([, people]) => people.includes(person))) };
}

/** The view as a client derives it from frames. */
function applied(view: View, person: string, { type, payload }: { type: string; payload?: unknown }): View {
  const { ward, ...rest } = payload as { ward: string; person: string; people: string[] };
  const { [ward]: here = [], ...elsewhere } = view.wards;
  switch (type) {
    case 'Ward':
      return { wards: { ...elsewhere, [ward]: rest.people } };
    case 'Entered':
      return {
        wards: { ...elsewhere, [ward]: [...here.filter((each) => each !== rest.person), rest.person] },
      };
    case 'Left':
      if (rest.person === person) return { wards: elsewhere };
      return { wards: { ...elsewhere, [ward]: here.filter((each) => each !== rest.person) } };
    case 'Closed':
      return { wards: elsewhere };
    default:
      return view;
  }
}

/** So late that every window has passed. */
const LATER = 1_000_000_000;

describe('properties of the relay', () => {
  it('snapshot before plus frames equals snapshot after', () => {
    fc.assert(
      fc.property(history, history, person, (before, since, who) => {
        const relay = createRelay({ audience: wardAudience, head });
        for (const [index, each] of before.entries()) relay.publish(at(index + 1, each));
        const start = snapshot(relay.state(), who);
        const client = record();
        relay.connect({ keys: [`person:${who}`] }, client);
        for (const [index, each] of since.entries()) relay.publish(at(before.length + index + 1, each));
        const end = client.sent.reduce((view, { message }) => applied(view, who, message), start);
        expect(end).to.deep.equal(snapshot(relay.state(), who));
        relay.close();
      }),
    );
  });

  it('a client cut off anywhere resumes with exactly the missed frames, once and in order', () => {
    fc.assert(
      fc.property(history, fc.array(fc.nat(40), { maxLength: 6 }), person, (events, breaks, who) => {
        const relay = createRelay({ audience: wardAudience, head });
        const keys = [`person:${who}`];
        const steady = record();
        relay.connect({ keys }, steady);
        const clients = [record()];
        relay.connect({ keys }, clients[0]!);
        let cursor = 0n;
        for (const [index, each] of events.entries()) {
          if (breaks.includes(index)) {
            clients.at(-1)!.leave();
            cursor = clients.at(-1)!.cursor() ?? cursor;
            if (index % 2 === 0) relay.publish(at(index + 1, each));
            clients.push(record());
            relay.connect({ keys, after: cursor }, clients.at(-1)!);
          }
          relay.publish(at(index + 1, each));
        }
        expect(clients.flatMap(({ sent }) => sent)).to.deep.equal(steady.sent);
        expect(clients.flatMap(types)).not.to.include('RESET');
        relay.close();
      }),
    );
  });

  it("across restarts, with other services' events in between, resuming gives all missed frames or RESET", () => {
    // A position, and whether it has an event of this service.
    const log = fc.array(fc.boolean(), { minLength: 1, maxLength: 60 });
    const starts = fc.record({ horizon: fc.nat(60), from: fc.nat(60) });
    fc.assert(
      fc.property(log, starts, fc.nat(70), (places, start, after) => {
        const ends = BigInt(places.length);
        const mine = places.flatMap((own, index) => (own ? [BigInt(index + 1)] : []));
        // The window of the previous node: all of the service's events after the horizon are after `from` too.
        const window = createResumeWindow({ horizon: 0n, from: 0n });
        const seen = { recordedAt: 0, data: {} };
        const left = Math.min(start.from, start.horizon, places.length);
        for (const position of mine) if (position <= left) window.record({ ...seen, position });
        window.advanceTo(BigInt(left), LATER);
        for (const position of mine)
          if (position > left && position <= start.horizon) window.record({ ...seen, position });
        const relay = createRelay({ audience: wardAudience, head: async () => ends, from: window.horizon });
        const enter = (position: bigint) =>
          relay.publish(at(position, { type: 'Entered', data: { ward: 'w', person: 'ann' } }));
        for (const position of mine) if (position > window.from) enter(position);

        const back = record();
        relay.connect({ keys: ['person:ann'], after: BigInt(after) }, back);
        enter(100n);
        const positions = back.sent.flatMap(({ position }) => position ?? []);
        const missed = mine.filter((position) => position > BigInt(after));
        const last = mine.at(-1) ?? 0n;
        if (types(back)[0] === 'RESET') {
          expect(positions).to.deep.equal([last > window.horizon ? last : window.horizon, 100n]);
          // No RESET is needed if nothing was missed.
          expect(missed, 'missed').not.to.deep.equal([]);
        } else expect(positions).to.deep.equal([...missed, 100n]);
        relay.close();
      }),
    );
  });

  it('with a buffer of any size, resuming gives all missed frames or RESET, never a part', () => {
    fc.assert(
      fc.property(history, fc.integer({ min: 1, max: 12 }), fc.nat(40), person, (events, ringSize, after, who) => {
        const relay = createRelay({ audience: wardAudience, head, ringSize });
        const keys = [`person:${who}`];
        const steady = record();
        relay.connect({ keys }, steady);
        for (const [index, each] of events.entries()) relay.publish(at(index + 1, each));
        const back = record();
        relay.connect({ keys, after: BigInt(after) }, back);
        if (types(back).includes('RESET')) expect(types(back)).to.deep.equal(['RESET']);
        else {
          const missed = steady.sent.filter((_, index) => positionOf(steady.sent, index) > BigInt(after));
          expect(back.sent).to.deep.equal(missed);
        }
        relay.close();
      }),
    );
  });
});

/** The first of several frames of one event has no cursor; the next one has. */
function positionOf(sent: readonly { position?: bigint }[], index: number): bigint {
  return sent.slice(index).find(({ position }) => position !== undefined)?.position ?? -1n;
}
