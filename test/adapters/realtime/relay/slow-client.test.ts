/** Slow clients: heartbeats, cursors, ephemeral messages, and when they are disconnected. */
import { expect } from 'chai';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { frame } from '../../../../adapters/realtime/relay/sink.js';
import { fakeClock, useFakeIntervals } from '../../../support/fake-clock.js';
import { at, connectAs, entered, head, record, types, wardAudience, wrote } from '../../../support/toy-service.js';

const BEAT_MS = 1000;
const KiB = 1024;

describe('a slow client of the relay', () => {
  let time: ReturnType<typeof fakeClock>;
  let relay: ReturnType<typeof start>;
  let next: number;
  let release: () => void;

  const start = (ringSize = 100) => createRelay({ audience: wardAudience, head, beatMs: BEAT_MS, ringSize });
  const publish = (...events: readonly ReturnType<typeof wrote>[]) => {
    for (const event of events) relay.publish(at(next++, event));
  };
  const slow = () => {
    const client = record();
    client.reading = false;
    return client;
  };
  const texts = ({ sent }: ReturnType<typeof record>) =>
    sent.map(({ message: { payload } }) => (payload as { text: string }).text.slice(0, 5));

  beforeEach(() => {
    time = fakeClock();
    release = useFakeIntervals(time);
    next = 1;
    relay = start();
    publish(entered('ann'));
  });
  afterEach(() => {
    relay.close();
    expect(time.isDue(BEAT_MS), 'a heartbeat of nobody').to.equal(false);
    release();
  });

  it('gets heartbeats that do not cover pending frames', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('first'.padEnd(70_000, '.')), wrote('2'), wrote('3'), wrote('4'));
    for (let beats = 0; beats < 3; beats++) time.pass(BEAT_MS);
    expect(ann.cursor()).to.equal(2n);
    ann.reading = true;
    ann.read();
    expect(texts(ann)).to.deep.equal(['first', '2', '3', '4']);
    expect(ann.cursor()).to.equal(5n);
  });

  it('loses nothing when it disconnects between a heartbeat and pending frames', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('first'.padEnd(70_000, '.')), wrote('2'), wrote('3'));
    time.pass(BEAT_MS);
    ann.leave();
    const back = record();
    relay.connect({ ...connectAs('ann'), after: ann.cursor()! }, back);
    expect(texts(back)).to.deep.equal(['2', '3']);
  });

  it('gets no heartbeats while it reads nothing, as each would be buffered', () => {
    const ann = slow();
    let beats = 0;
    relay.connect(connectAs('ann'), { ...ann, beat: () => void beats++ });
    const before = beats;
    publish(wrote('x'.repeat(70_000)), wrote('waits'));
    for (let count = 0; count < 3; count++) time.pass(BEAT_MS);
    expect(beats - before).to.equal(0);
  });

  it('is not disconnected for data it was sent before it fell behind', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    // 4 MiB in total, but never more than 200 KiB unread.
    for (let phase = 0; phase < 40; phase++) {
      publish(wrote('x'.repeat(70_000)), wrote('behind it'));
      relay.sendEphemeral(['person:ann'], frame({ type: 'Typing', payload: 'x'.repeat(100 * KiB) }));
      expect(ann.ended, `phase ${phase}`).to.equal(undefined);
      ann.read();
      ann.read();
    }
    expect(types(ann)).to.deep.equal(Array.from({ length: 40 }, () => ['Wrote', 'Wrote', 'Typing']).flat());
  });

  it('is disconnected for ephemeral messages only with more than 2 MiB unread in total', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('x'.repeat(70_000)), wrote('behind it'));
    const signal = (size: number) => relay.sendEphemeral(['person:ann'], frame({ type: 'x'.repeat(size) }));
    for (let count = 0; count < 19; count++) signal(100 * KiB);
    expect(ann.ended).to.equal(undefined);
    signal(200 * KiB);
    expect(ann.ended).to.equal('cut');
  });

  it('gets ephemeral messages in order after earlier events', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('x'.repeat(70_000)), wrote('behind it'));
    for (const type of ['one', 'two', 'three']) relay.sendEphemeral(['person:ann'], frame({ type }));
    ann.reading = true;
    ann.read();
    expect(types(ann)).to.deep.equal(['Wrote', 'Wrote', 'one', 'two', 'three']);
  });

  it('does not get messages that are outdated when their turn comes', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('x'.repeat(70_000)), wrote('behind it'));
    let isOver = false;
    relay.sendEphemeral(['person:ann'], { json: '{"type":"Stale"}', isStale: () => isOver });
    relay.sendEphemeral(['person:ann'], { json: '{"type":"Fresh"}', isStale: () => false });
    isOver = true;
    ann.read();
    ann.read();
    expect(types(ann)).to.deep.equal(['Wrote', 'Wrote', 'Fresh']);
  });

  it('gets no ephemeral message ahead of pending events, although the network has taken some', async () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('x'.repeat(70_000)), wrote('behind it'));
    // Less than before waits for the network, but not everything is sent yet.
    ann.unread = 1000;
    const passed = relay.sendWithBackpressure('person:ann', frame({ type: 'Piece' }));
    await new Promise(setImmediate);
    expect(types(ann)).to.deep.equal(['Wrote']);
    ann.reading = true;
    ann.read();
    expect(await passed).to.equal(true);
    expect(types(ann)).to.deep.equal(['Wrote', 'Wrote', 'Piece']);
  });

  it('is disconnected at the fourth heartbeat without reading, and not before', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    publish(wrote('x'.repeat(70_000)), wrote('waits'));
    time.pass(3 * BEAT_MS);
    expect(ann.ended).to.equal(undefined);
    time.pass(BEAT_MS);
    expect(ann.ended).to.equal('cut');
  });

  it('is never disconnected while it reads, however far behind it is', () => {
    const ann = slow();
    relay.connect(connectAs('ann'), ann);
    for (let count = 0; count < 20; count++) publish(wrote('x'.repeat(70_000)));
    for (let count = 0; count < 18; count++) {
      time.pass(BEAT_MS);
      expect(ann.ended).to.equal(undefined);
      ann.read();
    }
    expect(ann.sent.length).to.equal(19);
  });

  it('is not reset for frames to others, nor for frames that arrived while it had read everything', () => {
    relay.close();
    relay = start(5);
    publish(entered('ann'), entered('bob', 'other'));
    const ann = record();
    relay.connect(connectAs('ann'), ann);
    for (let count = 0; count < 20; count++) publish(wrote('to bob', 'other'));
    publish(wrote('hello'));
    expect(types(ann)).to.deep.equal(['Wrote']);
  });
});
