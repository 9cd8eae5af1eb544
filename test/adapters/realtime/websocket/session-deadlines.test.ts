/** How long a conversation over a WebSocket lasts, what it holds meanwhile, and how its client is slowed down. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createBudget } from '../../../../application/concurrency/fair-share-budget.js';
import { fakeClock } from '../../../support/fake-clock.js';
import { converseOver, Line } from './fake-socket.js';

const MiB = 1024 * 1024;

describe('a conversation over a WebSocket', () => {
  let line: Line;
  let time: ReturnType<typeof fakeClock>;
  const timed = () => ({ after: time.after, clock: time });

  beforeEach(() => {
    line = new Line();
    time = fakeClock();
  });
  afterEach(() => void line.emit('close', 1000));

  for (const sign of ['message', 'ping', 'pong'])
    it(`is over 60 s after the last ${sign}, and not before`, () => {
      converseOver(line, () => {}, timed());
      time.pass(50_000);
      line.emit(sign, Buffer.from('here'), false);
      time.pass(59_999);
      expect(line.closed).to.equal(undefined);
      time.pass(1);
      expect(line.closed).to.equal('cut');
    });

  it('is pinged every 25 s, however long it lasts', () => {
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

  it('goes on while its client is not read, and as long after that as if it had just been heard', async () => {
    let go = () => {};
    const going = new Promise<void>((resolve) => {
      go = resolve;
    });
    converseOver(line, () => going, timed());
    for (let count = 0; count < 20; count++) line.say('x');
    expect(line.isPaused).to.equal(true);
    time.pass(120_000);
    expect([line.closed, line.pings]).to.deep.equal([undefined, 24]);
    go();
    while (line.isPaused) await turn();
    time.pass(59_999);
    expect(line.closed).to.equal(undefined);
    time.pass(1);
    expect(line.closed).to.equal('cut');
  });

  it('is not read any more with 17 messages waiting, nor with more than 64 KiB of them', async () => {
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

  it('takes a place for what is answered, and gives it back however that ends', async () => {
    const places = createBudget('places', 1);
    const place = places.reserve();
    for (const said of [() => {}, async () => {}]) {
      const each = new Line();
      const { misunderstood } = converseOver(each, said, { place });
      for (let count = 0; count < 3; count++) {
        each.say('again');
        await turn();
      }
      expect(misunderstood).to.deep.equal([]);
      expect(places.used()).to.equal(0);
      each.emit('close', 1000);
    }
    for (const said of [
      () => {
        throw new Error('at once');
      },
      () => Promise.reject(new Error('later')),
    ]) {
      const each = new Line();
      converseOver(each, said, { place });
      each.say('fails');
      await turn();
      expect([each.closed, places.used()]).to.deep.equal([1011, 0]);
      each.emit('close', 1000);
    }
  });

  it('is cut once more than 2 MiB of what its client is answered are unread', async () => {
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

  it('is left as soon as all is answered of who went before that', async () => {
    let go = () => {};
    const going = new Promise<void>((resolve) => {
      go = resolve;
    });
    const said: unknown[] = [];
    const state = converseOver(line, (message) => {
      said.push(message.text);
      return going;
    });
    for (const text of ['one', 'two', 'three']) line.say(text);
    line.emit('close', 1000);
    expect(state.left).to.equal(0);
    go();
    while (said.length < 3) await turn();
    await turn();
    expect(state.left).to.equal(1);
  });

  it('is left at once by who is sent away, though not all is answered', () => {
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
