/**
 * Read model of rooms: one row for the room and its participants, then its newest 1000 messages in rows of 16. All share
 * one sort key, so that one query reads a room. Names, keys and envelopes stay encrypted in the rows.
 */
import type { RecordedEvent } from '../../application/ports/index.js';
import type { RoomsEvent } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES } from '../../domain/rooms/messages.js';
import type { Projection, RowChange } from '../kernel/index.js';

/** Messages per row. Small, as each post rewrites its row. */
const MESSAGES_PER_ROW = 16;

/** Sorts after the room's own row, oldest messages first. */
const bucketId = (roomId: string, revision: number): string =>
  `${roomId}:${String(Math.floor(revision / MESSAGES_PER_ROW)).padStart(8, '0')}`;

/** Events shown to participants; invites are not. */
type StateEvent = RoomsEvent<Exclude<RoomsEvent['type'], 'InviteCreated' | 'InviteRedeemed'>>;

export const state: Projection<StateEvent> = {
  name: 'rooms.state',
  version: 1,
  indexes: [{ key: { room: 1 } }, { key: { expiresAt: 1 } }],
  on: {
    RoomCreated: ({ data: { roomId, createdAt, expiresAt } }) => [
      {
        put: roomId,
        update: { $set: { room: roomId, createdAt, expiresAt, participants: [] } },
      },
    ],
    ParticipantJoined: ({ data: { roomId, participantId, joinedAt, secret } }) => [
      {
        patch: roomId,
        update: { $push: { participants: { id: participantId, joinedAt, secret } } },
      },
    ],
    MessagePosted: (event) => [addMessage(event), ...evictOldest(event)],
    RoomBurned: deleteRoom,
    RoomExpired: deleteRoom,
    // A message may have been accepted between the room's end and the tombstone.
    RoomErased: deleteRoom,
  },
};

type Posted = RecordedEvent<RoomsEvent<'MessagePosted'>>;

function addMessage({ data, revision }: Posted): RowChange {
  const { roomId, messageId, senderId, createdAt, expiresAt, secret } = data;
  const message = { revision, id: messageId, senderId, createdAt, expiresAt, secret };
  return {
    put: bucketId(roomId, revision),
    update: { $set: { room: roomId }, $push: { messages: message } },
  };
}

/** Removes the message that the stream's `$maxCount` has dropped, and the row with its last message. */
function evictOldest({ data: { roomId }, revision }: Posted): RowChange[] {
  const old = revision - MAX_MESSAGES;
  if (old < 0) return [];
  const row = bucketId(roomId, old);
  if (old % MESSAGES_PER_ROW === MESSAGES_PER_ROW - 1) return [{ purge: { _id: row } }];
  return [{ patch: row, update: { $pull: { messages: { revision: { $lte: old } } } } }];
}

function deleteRoom({ data: { roomId } }: RecordedEvent<StateEvent>): RowChange[] {
  return [{ remove: roomId }, { purge: { room: roomId } }];
}
