/** Who in the rooms is told what, without a socket. */
import { expect } from 'chai';
import type { RevealedEvent } from '../../../application/ports/index.js';
import { rooms } from '../../../application/rooms/audience.js';
import { route } from '../../../application/subscription/audience.js';
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
  events.reduce((state, event) => route(rooms, state, event).state, rooms.initialState);

/** What is delivered for the last event, after those before it. */
function told(...events: readonly RoomsEvent[]) {
  const heard = events.map((event) => recorded(event));
  const last = heard.pop()!;
  return route(rooms, after(...heard), last).deliveries;
}

const at = (time: number) => new Date(time).toISOString();

describe('the audience of a room', () => {
  it('gets messages as they are stored', () => {
    const ids = { id: 'one', roomId, senderId: 'ada' };
    const times = { createdAt: at(NOON), expiresAt: at(NOON + HOUR) };
    expect(told(created, joined('ada'), posted('one'))).to.deep.equal([
      { to: [roomId], message: { type: 'NEW_MESSAGE', payload: { ...ids, ...envelope, ...times } } },
    ]);
  });

  it('learns who has come in', () => {
    const key = { ...signingPublicKey, ext: true, key_ops: ['verify'] };
    const payload = { id: 'bob', name: 'Bob', joinedAt: at(NOON), signingPublicKey: key };
    expect(told(created, joined('ada'), joined('bob', 'Bob'))).to.deep.equal([
      { to: [roomId], message: { type: 'PARTICIPANT_JOINED', payload } },
    ]);
  });

  it('learns nothing of invites', () => {
    expect(told(created, joined('ada'), invited('one'))).to.deep.equal([]);
    expect(told(created, joined('ada'), invited('one'), redeemed('one', 'bob'))).to.deep.equal([]);
  });

  it('is told of the end, and that is the end', () => {
    for (const [end, type] of [
      [burned, 'ROOM_BURNED'],
      [expired, 'ROOM_EXPIRED'],
    ] as const) {
      expect(told(created, joined('ada'), end)).to.deep.equal([
        { to: [roomId], message: { type, payload: { roomId } }, ends: true },
      ]);
      expect(told(created, joined('ada'), end, posted('late'))).to.deep.equal([]);
      expect(told(created, joined('ada'), end, joined('late'))).to.deep.equal([]);
      expect(told(created, joined('ada'), end, erased)).to.deep.equal([]);
    }
  });

  it('gets nothing of what is erased', () => {
    const [message, person] = [posted('one'), joined('bob')];
    const noEnvelope = { data: { ...message.data, secret: { envelope: null } }, erased: true };
    const faceless = { name: 'Unknown Guest', signingPublicKey: null };
    for (const event of [
      recorded(message, noEnvelope),
      recorded(person, { data: { ...person.data, secret: faceless }, erased: true }),
    ]) {
      expect(route(rooms, rooms.initialState, event).deliveries).to.deep.equal([]);
    }
  });

  it('keeps the end for those who come just then, until all is erased', () => {
    const ended = after(recorded(created), recorded(burned));
    expect(ended.get(roomId)).to.deep.equal({ type: 'ROOM_BURNED', payload: { roomId } });
    expect(route(rooms, ended, recorded(erased)).state.size).to.equal(0);
  });

  it('keeps the end of every other room while one is erased, and what was kept stays as it was', () => {
    const elsewhere = recorded(burned);
    const other = { ...elsewhere, data: { ...elsewhere.data, roomId: 'other' } } as typeof elsewhere;
    const both = after(recorded(created), recorded(expired), other);
    expect([...both.keys()]).to.deep.equal([roomId, 'other']);
    expect([...route(rooms, both, recorded(erased)).state.keys()]).to.deep.equal(['other']);
    expect([...both.keys()]).to.deep.equal([roomId, 'other']);
    expect(rooms.initialState.size).to.equal(0);
  });
});
