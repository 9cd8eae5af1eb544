/** Seats in a meeting, one after the other on one socket: what arrives where, and what becomes of the socket. */
import { expect } from 'chai';
import { createSocketSeats } from '../../../adapters/http/meeting/socket-seat.js';
import { frame } from '../../../adapters/realtime/relay/sink.js';
import { record, types } from '../../support/toy-audience.js';

const message = (type: string) => frame({ type });

describe('a seat in a meeting', () => {
  it('gets what is told until it is left, and then the next one does', () => {
    const socket = record();
    const chair = createSocketSeats(socket);
    const [first, second] = [chair.take('ada', false), () => chair.take('bob', false)];
    let left = 0;
    first.sink.onClose(() => left++);
    first.sink.send(message('a'));
    const next = second();
    expect(left).to.equal(1);
    first.sink.send(message('b'));
    next.sink.send(message('c'));
    first.leave();
    next.sink.send(message('d'));
    expect(types(socket)).to.deep.equal(['a', 'c', 'd']);
    expect([left, socket.ended, first.id === next.id]).to.deep.equal([1, undefined, false]);
  });

  it('of who comes back gets nothing before they are welcomed', () => {
    const socket = record();
    const seat = createSocketSeats(socket).take('ada', true);
    seat.sink.send(message('to where they were'));
    seat.welcome();
    seat.sink.send(message('welcome'));
    expect(types(socket)).to.deep.equal(['welcome']);
  });

  it('is yielded with its socket, unless that has another one by now', () => {
    const socket = record();
    const chair = createSocketSeats(socket);
    const [former, now] = [chair.take('ada', false), chair.take('ada', true)];
    former.yield();
    expect(socket.ended).to.equal(undefined);
    now.welcome();
    now.yield();
    expect(socket.ended).to.equal('over');
  });

  it('is not yielded before its own return is welcomed', () => {
    const socket = record();
    const returning = createSocketSeats(socket).take('ada', true);
    returning.yield();
    expect(socket.ended).to.equal(undefined);
    returning.welcome();
    returning.sink.send(message('welcome'));
    expect(types(socket)).to.deep.equal(['welcome']);
  });

  for (const how of ['with its socket', 'where nothing more is to be heard'])
    it(`is left ${how}, and none is to be had from then on`, () => {
      const socket = record();
      const chair = createSocketSeats(socket);
      let left = 0;
      chair.take('ada', false).sink.onClose(() => left++);
      if (how === 'with its socket') socket.leave();
      else chair.close();
      expect(left).to.equal(1);
      chair.take('bob', false).sink.onClose(() => left++);
      expect(left).to.equal(2);
    });

  it('hears when the network has room again, for as long as somebody sits there', () => {
    const socket = record();
    const chair = createSocketSeats(socket);
    const inbox: string[] = [];
    const [former] = [chair.take('ada', false)];
    former.sink.onDrain(() => inbox.push('ada'));
    socket.read();
    chair.take('bob', false).sink.onDrain(() => inbox.push('bob'));
    socket.read();
    expect(inbox).to.deep.equal(['ada', 'bob']);
    socket.unread = 7;
    expect([former.sink.buffered()]).to.deep.equal([0]);
  });

  it('whose person is too slow for what they are to hear is cut', () => {
    const socket = record();
    createSocketSeats(socket).take('ada', false).sink.overrun?.();
    expect(socket.ended).to.equal('cut');
  });
});
