/** Messages received before a WebSocket closes. */
import { setImmediate } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import type { WebSocket } from 'ws';
import { fakeClock } from '../../../support/fake-clock.js';
import { serveTalk, type Talk } from './toy-chat.js';

describe('messages before a WebSocket closes', () => {
  let talk: Talk;
  afterEach(() => talk.close());

  it('are handled when the client closed, and dropped when the server did', async () => {
    talk = await serveTalk({ meanwhile: () => setImmediate() });
    const [ann, bob, eve] = await Promise.all([talk.open('a'), talk.open('b'), talk.open('b')]);
    for (const each of ['one', 'two', 'three', 'four']) ann!.say(each);
    ann!.socket.close();
    await eventually(() => expect(talk.left).to.deep.equal(['a']));
    expect(talk.received.map(({ text }) => text)).to.deep.equal(['one', 'two', 'three', 'four']);
    talk.speakers[1]!.close(4003);
    talk.speakers[2]!.close(4003);
    for (const each of [bob!, eve!]) {
      each.say('five');
      expect((await each.closed).code).to.equal(4003);
    }
    await eventually(() => expect(talk.left).to.have.length(3));
    expect(talk.received).to.have.length(4);
  });

  it("precede the close code: the client's own, or the one the server sent", async () => {
    talk = await serveTalk();
    const ends: readonly (readonly [code: number, end: (socket: WebSocket, index: number) => void])[] = [
      [1000, (socket) => socket.close(1000)],
      [1001, (socket) => socket.close(1001)],
      [1005, (socket) => socket.close()],
      [1012, (socket) => socket.close(1012)],
      [1006, (socket) => socket.terminate()],
      [1006, (_, index) => talk.speakers[index]!.sink.cut()],
      [1008, (_, index) => talk.speakers[index]!.close(1008)],
      // A client that does not answer the close counts as closed by the server.
      [
        1013,
        (socket, index) => {
          talk.speakers[index]!.close(1013);
          socket.terminate();
        },
      ],
    ];
    for (const [index, [code, end]] of ends.entries()) {
      const { socket } = await talk.open();
      end(socket, index);
      await eventually(() => expect(talk.codes).to.have.length(index + 1));
      expect(talk.codes[index]).to.equal(code);
    }
  });

  it('delay the departure by at most two seconds', async () => {
    const time = fakeClock();
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    talk = await serveTalk({ after: time.after, clock: time, meanwhile: () => gate });
    const talker = await talk.open();
    for (const each of ['one', 'two', 'three']) talker.say(each);
    talker.socket.close();
    await talker.closed;
    await eventually(() => expect(talk.received).to.have.length(1));
    await eventually(() => time.isDue(2000));
    time.pass(1999);
    expect(talk.left).to.deep.equal([]);
    time.pass(1);
    expect(talk.left).to.have.length(1);
    openGate();
    const other = await talk.open();
    other.say('after that');
    await eventually(() => expect(talk.received.map(({ text }) => text)).to.deep.equal(['one', 'after that']));
  });
});
