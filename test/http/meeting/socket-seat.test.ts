/** Consecutive seats in meetings on one socket: delivery, and what happens to the socket. */
import { expect } from 'chai';
import { createSocketSeats } from '../../../adapters/http/meeting/socket-seat.js';
import { frame } from '../../../adapters/realtime/relay/sink.js';
import { record, types } from '../../support/toy-service.js';

const message = (type: string) => frame({ type });

describe('seat in a meeting', () => {
  it('receives messages until the next seat on the socket is taken', () => {
    const socket = record();
    const seats = createSocketSeats(socket);
    const [first, second] = [seats.take('ada', false), () => seats.take('bob', false)];
    let leaves = 0;
    first.sink.onClose(() => leaves++);
    first.sink.send(message('a'));
    const next = second();
    expect(leaves).to.equal(1);
    first.sink.send(message('b'));
    next.sink.send(message('c'));
    first.leave();
    next.sink.send(message('d'));
    expect(types(socket)).to.deep.equal(['a', 'c', 'd']);
    expect([leaves, socket.ended, first.id === next.id]).to.deep.equal([1, undefined, false]);
  });

  it('of a returning participant receives nothing before the welcome', () => {
    const socket = record();
    const seat = createSocketSeats(socket).take('ada', true);
    seat.sink.send(message('to where they were'));
    seat.welcome();
    seat.sink.send(message('welcome'));
    expect(types(socket)).to.deep.equal(['welcome']);
  });

  it('closes its socket when yielded, unless the socket has a newer seat', () => {
    const socket = record();
    const seats = createSocketSeats(socket);
    const [previous, current] = [seats.take('ada', false), seats.take('ada', true)];
    previous.yield();
    expect(socket.ended).to.equal(undefined);
    current.welcome();
    current.yield();
    expect(socket.ended).to.equal('over');
  });

  it('is not yielded before its own welcome', () => {
    const socket = record();
    const returning = createSocketSeats(socket).take('ada', true);
    returning.yield();
    expect(socket.ended).to.equal(undefined);
    returning.welcome();
    returning.sink.send(message('welcome'));
    expect(types(socket)).to.deep.equal(['welcome']);
  });

  for (const how of ['with its socket', 'when closed'])
    it(`is leaves ${how}, and later seats are leaves immediately`, () => {
      const socket = record();
      const seats = createSocketSeats(socket);
      let leaves = 0;
      seats.take('ada', false).sink.onClose(() => leaves++);
      if (how === 'with its socket') socket.leave();
      else seats.close();
      expect(leaves).to.equal(1);
      seats.take('bob', false).sink.onClose(() => leaves++);
      expect(leaves).to.equal(2);
    });

  it('is notified when the socket drains, while it is the current seat', () => {
    const socket = record();
    const seats = createSocketSeats(socket);
    const inbox: string[] = [];
    const [previous] = [seats.take('ada', false)];
    previous.sink.onDrain(() => inbox.push('ada'));
    socket.read();
    seats.take('bob', false).sink.onDrain(() => inbox.push('bob'));
    socket.read();
    expect(inbox).to.deep.equal(['ada', 'bob']);
    socket.unread = 7;
    expect([previous.sink.buffered()]).to.deep.equal([0]);
  });

  it('cuts the socket when the participant is too slow', () => {
    const socket = record();
    createSocketSeats(socket).take('ada', false).sink.overrun?.();
    expect(socket.ended).to.equal('cut');
  });
});
