/** The event catalog of rooms: emitted events match their schemas, and stored versions stay readable. */
import { catalog, roomSubject } from '../../../domain/rooms/catalog.js';
import { messages } from '../../../domain/rooms/messages.js';
import { room } from '../../../domain/rooms/room.js';
import type { DomainEvent } from '../../../domain/shared/decider.js';
import { specifyCatalog } from '../../support/catalog-spec.js';
import { specOf } from '../../support/decider-spec.js';
import {
  burnRoom,
  createInvite,
  createRoom,
  HOUR,
  joinRoom,
  NOON,
  postMessage,
  roomId,
} from '../../support/room-fixtures.js';

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

describe('the event catalog of rooms', () =>
  specifyCatalog({
    catalog,
    emitted,
    subjectOf: () => roomSubject({ roomId }),
    ending: ['RoomBurned', 'RoomExpired', 'RoomErased'],
  }));
