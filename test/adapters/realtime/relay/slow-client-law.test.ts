/** Property: a slow client that leaves and returns gets everything it may see in order, or one RESET. */
import { expect } from 'chai';
import fc from 'fast-check';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { frame } from '../../../../adapters/realtime/relay/sink.js';
import { fakeClock, useFakeIntervals } from '../../../support/fake-clock.js';
import { at, entered, head, left, record, type WardEvent, wardAudience, wrote } from '../../../support/toy-service.js';

const KEY = 'person:ann';
const BEAT_MS = 1000;

const size = fc.constantFrom(10, 10, 10, 70_000);
const ward = fc.constantFrom('w', 'w', 'w', 'v');
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ write: size, ward }) },
  { weight: 2, arbitrary: fc.record({ enters: fc.constantFrom('ann', 'bob'), ward }) },
  { weight: 1, arbitrary: fc.record({ leaves: fc.constantFrom('ann', 'bob'), ward }) },
  { weight: 3, arbitrary: fc.record({ signal: fc.constantFrom(10, 10, 70_000) }) },
  { weight: 3, arbitrary: fc.constant({ reads: true as const }) },
  { weight: 2, arbitrary: fc.record({ isReading: fc.boolean() }) },
  { weight: 3, arbitrary: fc.constant({ beats: true as const }) },
  { weight: 1, arbitrary: fc.constant({ goes: true as const }) },
  { weight: 2, arbitrary: fc.record({ isGreeted: fc.boolean() }) },
);

interface Expected {
  readonly position: bigint;
  readonly json: string;
}

/** What one connection received in order: frames, and cursors from frames or heartbeats. */
interface Got {
  readonly json?: string;
  readonly cursor?: bigint | undefined;
}

/** A relay with one up-to-date client and one slow one, and what each connection received. */
function world(ringSize: number) {
  const time = fakeClock();
  const release = useFakeIntervals(time);
  const relay = createRelay({ audience: wardAudience, head, ringSize, beatMs: BEAT_MS });
  const steady = record();
  relay.connect({ keys: [KEY] }, steady);
  const expected: Expected[] = [];
  const connections: { after: bigint; got: Got[]; signals: Expected[]; client: ReturnType<typeof record> }[] = [];
  let latest = 0n;
  let signals = 0;
  let isAway = false;
  let isGreeted = false;

  function connect(after: bigint, isReading = false) {
    const client = record();
    client.reading = isReading;
    const got: Got[] = [];
    const { send, beat } = client;
    client.send = (each) => {
      if (!client.ended) got.push({ json: each.json, cursor: each.position });
      send(each);
    };
    client.beat = (cursor) => {
      if (!client.ended) got.push({ cursor });
      beat(cursor);
    };
    connections.push({ after, got, signals: [], client });
    const greeting = isGreeted && { greeting: { type: 'CONNECTED' } };
    relay.connect({ keys: [KEY], after, ...greeting }, client);
  }

  function publish(event: WardEvent) {
    latest += 1n;
    const before = steady.sent.length;
    relay.publish(at(latest, event));
    for (const { message } of steady.sent.slice(before))
      if (message.type !== 'Signal') expected.push({ position: latest, json: JSON.stringify(message) });
  }

  publish(entered('ann'));
  connect(0n);
  return {
    expected,
    connections,
    end() {
      const { client } = connections.at(-1)!;
      client.reading = true;
      client.read();
      relay.close();
      release();
      return isAway;
    },
    take(each: typeof step extends fc.Arbitrary<infer Step> ? Step : never) {
      const last = connections.at(-1)!;
      const { client } = last;
      if ('write' in each) publish(wrote('x'.repeat(each.write), each.ward));
      if ('enters' in each) publish(entered(each.enters, each.ward));
      if ('leaves' in each) publish(left(each.leaves, each.ward));
      if ('signal' in each) {
        const signal = frame({ type: 'Signal', n: ++signals, payload: 'x'.repeat(each.signal) });
        if (!client.ended) last.signals.push({ position: latest, json: signal.json });
        relay.sendEphemeral([KEY], signal);
      }
      if ('reads' in each) client.read();
      if ('isReading' in each) client.reading = each.isReading;
      if ('beats' in each) time.pass(BEAT_MS);
      if ('goes' in each) {
        isAway = true;
        client.leave();
      }
      // Reconnects where it has left.
      if ('isGreeted' in each) [isAway, isGreeted] = [false, each.isGreeted];
      if (client.ended && !isAway) connect(client.cursor() ?? last.after, client.reading);
    },
  };
}

describe('properties of the relay for slow clients', () => {
  it('every frame arrives in order, once, or is covered by a RESET; a cursor never runs ahead of frames', () => {
    const steps = fc.array(step, { minLength: 30, maxLength: 80 });
    fc.assert(
      fc.property(steps, fc.constantFrom(3, 8, 100), (all, ringSize) => {
        const { expected, connections, take, end } = world(ringSize);
        for (const each of all) take(each);
        const wasAway = end();
        for (const [index, { after, got, signals }] of connections.entries()) {
          let done = expected.filter(({ position }) => position <= after).length;
          let signaled = 0;
          const isPast = (position: bigint) => expected[done] === undefined || expected[done]!.position > position;
          for (const { json, cursor } of got) {
            if (json?.startsWith('{"type":"CONNECTED"')) expect(got[0]?.json).to.equal(json);
            else if (json?.startsWith('{"type":"RESET"'))
              while (expected[done] && expected[done]!.position <= cursor!) done++;
            else if (json?.startsWith('{"type":"Signal"')) {
              expect(json).to.equal(signals[signaled]?.json);
              expect(isPast(signals[signaled++]!.position), 'all before it has come').to.equal(true);
            } else if (json !== undefined) expect(json).to.equal(expected[done++]?.json);
            if (cursor !== undefined) expect(isPast(cursor), 'the cursor').to.equal(true);
          }
          if (index < connections.length - 1 || wasAway) continue;
          expect(done).to.equal(expected.length);
          expect(signaled).to.equal(signals.length);
        }
      }),
      { numRuns: 60 },
    );
  });
});
