/** How long a WebSocket session lasts, its buffers, and backpressure. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { fakeClock } from '../../../support/fake-clock.js';
import { converseOver, Line } from './fake-socket.js';

const MiB = 1024 * 1024;

describe('a WebSocket session', () => {
  let line: Line;
  let time: ReturnType<typeof fakeClock>;
  const timed = () => ({ after: time.after, clock: time });

  beforeEach(() => {
    line = new Line();
    time = fakeClock();
  });
  afterEach(() => void line.emit('close', 1000));

  for (const sign of ['message', 'ping', 'pong'])
    it(`ends 60 s after the last ${sign}, and not before`, () => {
      converseOver(line, () => {}, timed());
      time.pass(50_000);
      line.emit(sign, Buffer.from('here'), false);
      time.pass(59_999);
      expect(line.closed).to.equal(undefined);
      time.pass(1);
      expect(line.closed).to.equal('cut');
    });

  it('sends a ping every 25 s', () => {
    converseOver(line, () => {}, timed());
    const pinged: number[] = [];
    for (let seconds = 5; seconds <= 100; seconds += 5) {
      const before = line.pings;
      time.pass(5000);
      if (line.pings > before) pinged.push(seconds);
      line.emit('pong', Buffer.alloc(0));
    }
    expect(pinged).to.deep.equal([25, 50, 75, 100]);
  });

  it('stays open while its client is not read, and as long afterwards as after a message', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    converseOver(line, () => gate, timed());
    for (let count = 0; count < 20; count++) line.say('x');
    expect(line.isPaused).to.equal(true);
    time.pass(120_000);
    expect([line.closed, line.pings]).to.deep.equal([undefined, 24]);
    openGate();
    while (line.isPaused) await turn();
    time.pass(59_999);
    expect(line.closed).to.equal(undefined);
    time.pass(1);
    expect(line.closed).to.equal('cut');
  });

  it('stops reading with 17 pending messages or more than 64 KiB', async () => {
    const never = new Promise<void>(() => {});
    for (const [size, count] of [
      [10, 16],
      [16 * 1024, 4],
    ] as const) {
      const each = new Line();
      converseOver(each, () => never);
      each.say('is answered');
      for (let waiting = 0; waiting < count; waiting++) each.say('x'.repeat(size));
      expect(each.isPaused, `${count} of ${size}`).to.equal(false);
      each.say('x');
      expect(each.isPaused, `more than ${count} of ${size}`).to.equal(true);
      each.emit('close', 1000);
    }
  });

  it('takes a slot for each message and releases it whatever the outcome', async () => {
    const places = createBudget('places', 1);
    const place = places.reserve();
    for (const onMessage of [() => {}, async () => {}]) {
      const each = new Line();
      const { misunderstood } = converseOver(each, onMessage, { place });
      for (let count = 0; count < 3; count++) {
        each.say('again');
        await turn();
      }
      expect(misunderstood).to.deep.equal([]);
      expect(places.used()).to.equal(0);
      each.emit('close', 1000);
    }
    for (const onMessage of [
      () => {
        throw new Error('at once');
      },
      () => Promise.reject(new Error('later')),
    ]) {
      const each = new Line();
      converseOver(each, onMessage, { place });
      each.say('fails');
      await turn();
      expect([each.closed, places.used()]).to.deep.equal([1011, 0]);
      each.emit('close', 1000);
    }
  });

  it('is closed with more than 2 MiB of unread answers', async () => {
    converseOver(line, () => {});
    line.bufferedAmount = 2 * MiB;
    line.say('one');
    await turn();
    expect(line.closed).to.equal(undefined);
    line.bufferedAmount++;
    line.say('two');
    await turn();
    expect(line.closed).to.equal('cut');
  });

  it('ends as soon as all answers are complete if the client left before', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const received: unknown[] = [];
    const state = converseOver(line, (message) => {
      received.push(message.text);
      return gate;
    });
    for (const text of ['one', 'two', 'three']) line.say(text);
    line.emit('close', 1000);
    expect(state.left).to.equal(0);
    openGate();
    while (received.length < 3) await turn();
    await turn();
    expect(state.left).to.equal(1);
  });

  it('ends at once when closed by the server, despite pending answers', () => {
    const state = converseOver(line, () => new Promise(() => {}));
    for (let count = 0; count < 3; count++) line.say('x');
    state.close(4003);
    line.emit('close', 1000);
    expect([line.closed, state.left]).to.deep.equal([4003, 1]);
  });

  it('leaves no timer behind', () => {
    converseOver(line, () => {}, timed());
    expect(time.isDue(10_000)).to.equal(true);
    line.emit('close', 1000);
    expect(time.isDue(100_000)).to.equal(false);
  });
});
