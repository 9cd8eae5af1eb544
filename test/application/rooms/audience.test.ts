/** Who receives which event of a room, tested without a socket. */
import { expect } from 'chai';
import type { RevealedEvent } from '../../../application/ports/index.js';
import { rooms } from '../../../application/rooms/audience.js';
import { routeEvent } from '../../../application/subscription/audience.js';
import type { RoomsEvent } from '../../../domain/rooms/catalog.js';
import {
  burned,
  created,
  envelope,
  erased,
  expired,
  HOUR,
  invited,
  joined,
  NOON,
  posted,
  redeemed,
  roomId,
  signingPublicKey,
} from '../../support/room-fixtures.js';

const recorded = (event: RoomsEvent, more: object = {}) =>
  ({ ...event, ...more }) as unknown as RevealedEvent<RoomsEvent>;

const after = (...events: readonly RevealedEvent[]) =>
  events.reduce((state, event) => routeEvent(rooms, state, event).state, rooms.initialState);

/** The deliveries for the last event, given the ones before it. */
function delivered(...events: readonly RoomsEvent[]) {
  const recordedEvents = events.map((event) => recorded(event));
  const last = recordedEvents.pop()!;
  return routeEvent(rooms, after(...recordedEvents), last).deliveries;
}

const at = (time: number) => new Date(time).toISOString();

describe('the audience of a room', () => {
  it('receives messages as stored', () => {
    const ids = { id: 'one', roomId, senderId: 'ada' };
    const times = { createdAt: at(NOON), expiresAt: at(NOON + HOUR) };
    expect(delivered(created, joined('ada'), posted('one'))).to.deep.equal([
      { to: [roomId], message: { type: 'NEW_MESSAGE', payload: { ...ids, ...envelope, ...times } } },
    ]);
  });

  it('receives new participants', () => {
    const key = { ...signingPublicKey, ext: true, key_ops: ['verify'] };
    const payload = { id: 'bob', name: 'Bob', joinedAt: at(NOON), signingPublicKey: key };
    expect(delivered(created, joined('ada'), joined('bob', 'Bob'))).to.deep.equal([
      { to: [roomId], message: { type: 'PARTICIPANT_JOINED', payload } },
    ]);
  });

  it('receives nothing about invites', () => {
    expect(delivered(created, joined('ada'), invited('one'))).to.deep.equal([]);
    expect(delivered(created, joined('ada'), invited('one'), redeemed('one', 'bob'))).to.deep.equal([]);
  });

  it('receives the end of the room, which ends the stream', () => {
    for (const [end, type] of [
      [burned, 'ROOM_BURNED'],
      [expired, 'ROOM_EXPIRED'],
    ] as const) {
      expect(delivered(created, joined('ada'), end)).to.deep.equal([
        { to: [roomId], message: { type, payload: { roomId } }, ends: true },
      ]);
      expect(delivered(created, joined('ada'), end, posted('after'))).to.deep.equal([]);
      expect(delivered(created, joined('ada'), end, joined('after'))).to.deep.equal([]);
      expect(delivered(created, joined('ada'), end, erased)).to.deep.equal([]);
    }
  });

  it('receives no erased content', () => {
    const [message, person] = [posted('one'), joined('bob')];
    const noEnvelope = { data: { ...message.data, secret: { envelope: null } }, erased: true };
    const faceless = { name: 'Unknown Guest', signingPublicKey: null };
    for (const event of [
      recorded(message, noEnvelope),
      recorded(person, { data: { ...person.data, secret: faceless }, erased: true }),
    ]) {
      expect(routeEvent(rooms, rooms.initialState, event).deliveries).to.deep.equal([]);
    }
  });

  it('remembers how the room ended until it is erased', () => {
    const ended = after(recorded(created), recorded(burned));
    expect(ended.get(roomId)).to.deep.equal({ type: 'ROOM_BURNED', payload: { roomId } });
    expect(routeEvent(rooms, ended, recorded(erased)).state.size).to.equal(0);
  });

  it('remembers how other rooms ended when one is erased, without mutating former states', () => {
    const burnedEvent = recorded(burned);
    const other = { ...burnedEvent, data: { ...burnedEvent.data, roomId: 'other' } } as typeof burnedEvent;
    const both = after(recorded(created), recorded(expired), other);
    expect([...both.keys()]).to.deep.equal([roomId, 'other']);
    expect([...routeEvent(rooms, both, recorded(erased)).state.keys()]).to.deep.equal(['other']);
    expect([...both.keys()]).to.deep.equal([roomId, 'other']);
    expect(rooms.initialState.size).to.equal(0);
  });
});
