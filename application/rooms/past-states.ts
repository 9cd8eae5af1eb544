/** Past states of rooms. */
import { catalog } from '../../domain/rooms/catalog.js';
import { isOpen, type RoomEvent, type RoomState, room, roomStream } from '../../domain/rooms/room.js';
import { evolveOf } from '../../domain/shared/index.js';
import { isoTime, type ThingKind } from '../audit/index.js';

const rooms: ThingKind<RoomState> = {
  name: 'room',
  catalog,
  initialState: room.initialState,
  streamOf: (id) => (id === '' ? undefined : roomStream(id)),
  evolve: evolveOf<RoomState, RoomEvent>(room),
  view(state, { id, time, secret }) {
    const { status, expiresAt, participants, invites } = state;
    return {
      roomId: id,
      // A room expires by the clock, before its event is written.
      status: status === 'open' && !isOpen(state, time) ? 'expired' : status,
      expiresAt: isoTime(expiresAt),
      participants: participants.map(({ id, name, joinedAt }) => ({
        id,
        name: secret(name),
        joinedAt: isoTime(joinedAt),
      })),
      invites: invites.length,
      unusedInvites: invites.filter(({ used }) => !used).length,
    };
  },
};

export const roomsThings: readonly ThingKind[] = [rooms];
