/** Every event of the rooms: what deciders emit fits its schema, and what was ever written can still be read. */
import { expect } from 'chai';
import { roomSubject, catalog as rooms } from '../../../domain/rooms/catalog.js';
import { messages } from '../../../domain/rooms/messages.js';
import { room } from '../../../domain/rooms/room.js';
import type { Catalog } from '../../../domain/shared/catalog.js';
import type { DomainEvent } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';
import { expectGoldens, fitting } from '../../support/golden.js';
import {
  burnRoom,
  createInvite,
  createRoom,
  HOUR,
  joinRoom,
  NOON,
  postMessage,
  roomId,
} from '../../support/rooms.js';

const catalog: Catalog = rooms;
const fits = fitting(catalog.events);

const emitted: readonly DomainEvent[] = [
  ...specOf(room).run([
    createRoom('Ada'),
    createInvite('one'),
    joinRoom('one', 'bob'),
    burnRoom(),
    { type: 'EraseRoom', roomId, now: NOON },
  ]).events,
  ...specOf(room).run([createRoom(), { type: 'ExpireRoom', roomId, now: NOON + HOUR }]).events,
  ...specOf(messages).run([postMessage('one')]).events,
];

describe('the catalog of rooms', () => {
  it('has every event that is ever emitted, and no other', () => {
    expect(Object.keys(catalog.events)).to.have.members([...new Set(emitted.map(({ type }) => type))]);
  });

  for (const { type, data } of emitted) {
    it(`fits ${type} as it is emitted`, () => {
      expect(fits(type, catalog.events[type]?.versions.length ?? 0, data)).to.equal(true);
    });
  }

  it('refuses an event that lacks something', () => {
    for (const { type, data } of emitted) {
      for (const member of Object.keys(data)) {
        const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== member));
        expect(fits(type, 1, rest), `${type} without ${member}`).to.equal(false);
      }
    }
  });

  it('seals names, keys and envelopes under the room, with fallbacks that fit', () => {
    for (const { type, data } of emitted) {
      const sealing = catalog.events[type]?.sealed;
      expect(!!sealing, type).to.equal('secret' in data);
      if (!sealing) continue;
      expect(sealing.subject(data)).to.equal(roomSubject({ roomId }));
      expect(fits(type, 1, { ...data, secret: sealing.erased })).to.equal(true);
    }
  });

  it('says which events end the room’s key', () => {
    const ending = Object.entries(catalog.events).filter(([, { erases }]) => erases);
    expect(ending.map(([type]) => type)).to.have.members(['RoomBurned', 'RoomExpired', 'RoomErased']);
  });

  it('has a fixture of every version ever written, which can still be read', () => expectGoldens(catalog));
});
