/** WebSocket sessions: validation, order, rate limits, and closing. */
import { once } from 'node:events';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createBudgets } from '../../../../adapters/http/server/budgets.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { fakeClock } from '../../../support/fake-clock.js';
import { PER_SECOND, serveTalk, type Talk } from './toy-chat.js';

describe('a conversation over a WebSocket', () => {
  let talk: Talk;
  afterEach(() => talk.close());

  it('delivers to everyone in the room in order, and to nobody else', async () => {
    talk = await serveTalk();
    const [ann, bob, eve] = await Promise.all([talk.open('a'), talk.open('a'), talk.open('b')]);
    const texts = Array.from({ length: 200 }, (_, index) => `number ${index}`);
    for (const each of texts) ann!.say(each);
    await eventually(() => expect(bob!.received.map(({ text }) => text)).to.deep.equal(texts));
    await eventually(() => expect(ann!.received).to.deep.equal(bob!.received));
    expect(eve!.received).to.deep.equal([]);
  });

  it('continues after an invalid message and answers the reason', async () => {
    talk = await serveTalk();
    const talker = await talk.open();
    const { socket } = talker;
    for (const each of ['', 'no json', '[]', '"say"', 'null', '{}', '{"type":1}']) socket.send(each);
    socket.send(Buffer.from('{"type":"say","text":"as bytes"}'));
    for (const each of ['{"type":"sing"}', '{"type":"__proto__"}', '{"type":"constructor"}']) socket.send(each);
    socket.send('{"type":"say"}');
    socket.send('{"type":"say","text":7}');
    socket.send('{"type":"say","text":""}');
    talker.say('understood', { more: 'is passed over' });
    await eventually(() => expect(talk.received).to.have.length(1));
    expect(talk.received[0]).to.deep.equal({ type: 'say', text: 'understood' });
    expect(talk.misunderstood.map(({ why }) => why)).to.deep.equal([
      ...Array(8).fill('unreadable'),
      ...Array(3).fill('unknown-type'),
      ...Array(3).fill('wrong'),
    ]);
    expect(talk.misunderstood.slice(-3).map((each) => 'error' in each && each.error.message)).to.deep.equal([
      'Text is required',
      'Text is invalid',
      'Text is required',
    ]);
    expect(socket.readyState).to.equal(WebSocket.OPEN);
  });

  it('accepts 1 MiB, closes with 1009 for one byte more and with 1007 for invalid text', async () => {
    talk = await serveTalk();
    const [fits, larger, broken] = await Promise.all([talk.open(), talk.open(), talk.open()]);
    const around = JSON.stringify({ type: 'say', text: '' }).length;
    fits!.say('x'.repeat(1024 * 1024 - around));
    await eventually(() => expect(talk.received).to.have.length(1));
    larger!.say('x'.repeat(1024 * 1024 - around + 1));
    expect((await larger!.closed).code).to.equal(1009);
    broken!.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
    expect((await broken!.closed).code).to.equal(1007);
    expect(talk.received).to.have.length(1);
    expect(fits!.socket.readyState).to.equal(WebSocket.OPEN);
  });

  it('accepts fragments with pings in between', async () => {
    talk = await serveTalk();
    const { socket } = await talk.open();
    socket.send('{"type":"say",', { fin: false });
    socket.ping();
    socket.send('"text":"in pieces"}', { fin: true });
    await eventually(() => expect(talk.received).to.deep.equal([{ type: 'say', text: 'in pieces' }]));
  });

  it('handles messages one after another, with backpressure', async () => {
    let openGate = () => {};
    let under = 0;
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    talk = await serveTalk({
      async meanwhile() {
        expect(++under).to.equal(1);
        await gate;
        under--;
      },
    });
    const [talker, other] = await Promise.all([talk.open('a'), talk.open('b')]);
    const large = 'x'.repeat(500_000);
    const count = 200;
    for (let index = 0; index < count; index++) talker!.say(`${index} ${large}`, { to: 'nobody' });
    await eventually(() => expect(talk.received).to.have.length(1));
    // What the network does not buffer stays with the sender.
    await eventually(() => expect(talker!.socket.bufferedAmount).to.be.greaterThan(50_000_000));
    other!.socket.send('nobody else waits');
    await eventually(() => expect(talk.misunderstood).to.have.length(1));
    expect(talk.received).to.have.length(1);
    openGate();
    await eventually(() => expect(talk.received).to.have.length(count));
    expect(talk.received.map(({ text }) => String(text).split(' ')[0])).to.deep.equal(
      Array.from({ length: count }, (_, each) => String(each)),
    );
  });

  describe('over time', () => {
    let time: ReturnType<typeof fakeClock>;
    beforeEach(async () => {
      time = fakeClock();
      talk = await serveTalk({ after: time.after, clock: time, perSecond: PER_SECOND });
    });

    it('limits messages per second: excess is refused, and persistent excess closes', async () => {
      const talker = await talk.open();
      const say = (count: number) => {
        for (let index = 0; index < count; index++) talker.say('again');
      };
      const [taken, refused] = [() => talk.received.length, () => talk.misunderstood.length];
      say(PER_SECOND + 1);
      await eventually(() => expect([taken(), refused()]).to.deep.equal([PER_SECOND, 1]));
      expect(talk.misunderstood[0]).to.deep.equal({ why: 'too-many' });
      time.pass(1000);
      say(PER_SECOND);
      await eventually(() => expect([taken(), refused()]).to.deep.equal([2 * PER_SECOND, 1]));
      time.pass(1000);
      say(PER_SECOND + 1);
      await eventually(() => expect([taken(), refused()]).to.deep.equal([3 * PER_SECOND, 2]));
      time.pass(999);
      expect(talker.socket.readyState).to.equal(WebSocket.OPEN);
      time.pass(1);
      say(PER_SECOND + 1);
      expect(await talker.closed).to.deep.equal({ code: 1008, reason: 'Too many messages' });
      expect([taken(), refused()]).to.deep.equal([4 * PER_SECOND, 2]);
    });

    it('closes at twice the limit within one second', async () => {
      const talker = await talk.open();
      for (let index = 0; index <= 2 * PER_SECOND; index++) talker.say('again');
      expect((await talker.closed).code).to.equal(1008);
      expect([talk.received.length, talk.misunderstood.length]).to.deep.equal([PER_SECOND, PER_SECOND]);
    });

    it('sends pings every 25 s and closes after 60 s of silence', async () => {
      // Half-open: no sign from the peer.
      const [lives, silent] = await Promise.all([talk.open('lives'), talk.open('silent', { autoPong: false })]);
      for (let pings = 1; pings <= 3; pings++) {
        const pinged = once(lives!.socket, 'ping');
        time.pass(25_000);
        await pinged;
        // The answer must arrive before time advances further.
        lives!.socket.send('here');
        await eventually(() => expect(talk.misunderstood).to.have.length(pings));
      }
      expect((await silent!.closed).code).to.equal(1006);
      await eventually(() => expect(talk.left).to.deep.equal(['silent']));
      expect(talk.codes).to.deep.equal([1006]);
      expect(lives!.socket.readyState).to.equal(WebSocket.OPEN);
    });
  });

  it('spreads messages that waited for an answer over that time', async () => {
    const time = fakeClock();
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    talk = await serveTalk({ after: time.after, clock: time, perSecond: PER_SECOND, meanwhile: () => gate });
    const talker = await talk.open();
    for (let index = 0; index < 3 * PER_SECOND + 2; index++) talker.say('honest');
    await eventually(() => expect(talk.received).to.have.length(1));
    time.pass(2000);
    openGate();
    // The first one belongs to the second before.
    await eventually(() =>
      expect([talk.received.length, talk.misunderstood.length]).to.deep.equal([3 * PER_SECOND + 1, 1]),
    );
  });

  it('ends within seconds when the client left while not being read', async () => {
    const time = fakeClock();
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    talk = await serveTalk({ after: time.after, clock: time, meanwhile: () => gate });
    const talker = await talk.open('gone');
    for (let index = 0; index < 40; index++) talker.say('x'.repeat(500_000), { to: 'nobody' });
    await eventually(() => expect(talk.received).to.have.length(1));
    talker.socket.terminate();
    let seconds = 0;
    await eventually(() => {
      if (seconds++ < 20) time.pass(1000);
      return talk.left.includes('gone');
    });
    openGate();
  });

  it('leaves the same budget for pending requests as HTTP', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const requests = createBudget('requests', 3);
    talk = await serveTalk({ budgets: { ...createBudgets(), requests }, meanwhile: () => gate });
    const talkers = [await talk.open(), await talk.open(), await talk.open()];
    for (const [index, each] of talkers.entries()) {
      each.say('mine');
      await eventually(() => expect(talk.received.length + talk.misunderstood.length).to.equal(index + 1));
    }
    expect([talk.received.length, talk.misunderstood]).to.deep.equal([2, [{ why: 'too-many' }]]);
    openGate();
    await eventually(() => expect(requests.used()).to.equal(0));
    talkers[2]!.say('now');
    await eventually(() => expect(talk.received).to.have.length(3));
  });

  it('closes as the service says, after everything is delivered', async () => {
    talk = await serveTalk();
    const talker = await talk.open();
    for (let index = 0; index < 50; index++) talk.speakers[0]!.sink.send({ json: `{"type":"said","text":"${index}"}` });
    talk.speakers[0]!.close(4003, 'Kicked');
    expect(await talker.closed).to.deep.equal({ code: 4003, reason: 'Kicked' });
    expect(talker.received).to.have.length(50);
    await eventually(() => expect(talk.left).to.deep.equal(['a']));
  });

  it('closes with 1011 when the service fails, and only that session', async () => {
    talk = await serveTalk({
      meanwhile({ text }) {
        if (text === 'fail') throw new Error('at once');
        return text === 'fail later' ? Promise.reject(new Error('later')) : undefined;
      },
    });
    const [first, second, third] = await Promise.all([talk.open(), talk.open(), talk.open()]);
    first!.say('fail');
    second!.say('fail later');
    expect((await first!.closed).code).to.equal(1011);
    expect((await second!.closed).code).to.equal(1011);
    third!.say('goes on');
    await eventually(() => expect(third!.received).to.have.length(1));
    const failures = talk.lines.filter(({ message }) => message === 'WebSocket session failed');
    expect(failures.map(({ fields }) => String(fields.err))).to.have.members(['Error: at once', 'Error: later']);
  });

  it('closes with 1011 when the service fails to start it', async () => {
    talk = await serveTalk({
      begun() {
        throw new Error('at its beginning');
      },
    });
    const talker = await talk.open();
    expect((await talker.closed).code).to.equal(1011);
    const failures = talk.lines.filter(({ level }) => level === 'error');
    expect(failures.map(({ fields }) => String(fields.err))).to.deep.equal(['Error: at its beginning']);
  });

  it('is closed when its client does not read answers', async () => {
    const answer = { json: JSON.stringify({ type: 'said', text: 'x'.repeat(100_000) }) };
    talk = await serveTalk({ meanwhile: () => talk.speakers[0]!.sink.send(answer) });
    const talker = await talk.open();
    talker.socket.pause();
    // Far more than the network buffers.
    for (let received = 0; received < 500; received++) talker.say('again', { to: 'nobody' });
    await eventually(() => expect(talk.left).to.deep.equal(['a']));
    expect(talk.received.length).to.be.lessThan(500);
    talker.socket.resume();
    expect((await talker.closed).code).to.equal(1006);
  });

  it('is closed when its client does not read events; others continue', async () => {
    talk = await serveTalk();
    const [slow, other] = await Promise.all([talk.open(), talk.open()]);
    slow!.socket.pause();
    const text = 'x'.repeat(100_000);
    for (let received = 1; !talk.left.length && received < 1000; received++) {
      other!.say(text);
      await eventually(() => expect(other!.received).to.have.length(received));
    }
    expect(talk.left).to.deep.equal(['a']);
    expect(other!.socket.readyState).to.equal(WebSocket.OPEN);
    slow!.socket.resume();
    expect((await slow!.closed).code).to.equal(1006);
  });
});
