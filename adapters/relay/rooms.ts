/** Who in the rooms is told what: streams are connected under their room's id, and end with the room. */
import { iso, messageView, participantView } from '../../application/rooms/views.js';
import type { MessagePosted } from '../../domain/rooms/messages.js';
import type { RoomEvent } from '../../domain/rooms/room.js';
import type { Audience, Message } from './audience.js';

/**
 * Rooms that have ended and are being erased, with what their streams were told: for a client that was admitted
 * just before the end and connects just after it. Erasing takes longer than connecting.
 */
export type EndedRooms = ReadonlyMap<string, Message>;

const BURNED: Message = { type: 'ROOM_BURNED' };
const EXPIRED: Message = { type: 'ROOM_EXPIRED' };

export const connected = (roomId: string, participantId: string, expiresAt: number): Message => ({
  type: 'CONNECTED',
  payload: { roomId, participantId, expiresAt: iso(expiresAt) },
});

/** Told at the very moment, however late the log hears of it. */
export const expired = (roomId: string): Message => ({ ...EXPIRED, payload: { roomId } });

export const rooms: Audience<EndedRooms, RoomEvent | MessagePosted> = {
  initialState: new Map(),

  evolve(ended, event) {
    const { roomId } = event.data;
    if (event.type === 'RoomBurned') return new Map(ended).set(roomId, { ...BURNED, payload: { roomId } });
    if (event.type === 'RoomExpired') return new Map(ended).set(roomId, expired(roomId));
    if (event.type !== 'RoomErased' || !ended.has(roomId)) return ended;
    const left = new Map(ended);
    left.delete(roomId);
    return left;
  },

  deliver(event, ended) {
    const { roomId } = event.data;
    const to = [roomId];
    const last = ended.get(roomId);
    if (event.type === 'RoomBurned' || event.type === 'RoomExpired') {
      return last ? [{ to, frame: last, ends: true }] : [];
    }
    if (last) return [];
    if (event.type === 'MessagePosted') {
      const { messageId: id, secret, senderId, createdAt, expiresAt } = event.data;
      const { envelope } = secret;
      if (!envelope) return [];
      const payload = messageView({ id, roomId, senderId, createdAt, expiresAt, envelope });
      return [{ to, frame: { type: 'NEW_MESSAGE', payload } }];
    }
    if (event.type === 'ParticipantJoined' && !event.erased) {
      const { participantId: id, joinedAt, secret } = event.data;
      return [
        { to, frame: { type: 'PARTICIPANT_JOINED', payload: participantView({ id, joinedAt, ...secret }) } },
      ];
    }
    return [];
  },
};
