/**
 * What is in a room: one row for the room and who is in it, then its newest 1000 messages in rows of 16, all found
 * and sorted by one key, so that reading a room is one query. Names, keys and envelopes stay sealed in the rows.
 */
import type { RecordedEvent } from '../../application/ports/index.js';
import type { RoomsEvent } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES } from '../../domain/rooms/messages.js';
import type { Projection, RowChange } from '../kernel/index.js';

/** A post rewrites its row, so rows are short; a reader of the newest messages takes several at once. */
const PER_ROW = 16;

/** Sorts after the room's own row, and by age. */
const bucketId = (roomId: string, revision: number): string =>
  `${roomId}:${String(Math.floor(revision / PER_ROW)).padStart(8, '0')}`;

/** All but what is about invites: who may still come is nobody's to see. */
type Shown = RoomsEvent<Exclude<RoomsEvent['type'], 'InviteCreated' | 'InviteRedeemed'>>;

export const state: Projection<Shown> = {
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
    MessagePosted: (event) => [posted(event), ...evicted(event)],
    RoomBurned: emptied,
    RoomExpired: emptied,
    // A message may have been taken in the moment between the room's end and the tombstone.
    RoomErased: emptied,
  },
};

type Posted = RecordedEvent<RoomsEvent<'MessagePosted'>>;

function posted({ data, revision }: Posted): RowChange {
  const { roomId, messageId, senderId, createdAt, expiresAt, secret } = data;
  const message = { revision, id: messageId, senderId, createdAt, expiresAt, secret };
  return {
    put: bucketId(roomId, revision),
    update: { $set: { room: roomId }, $push: { messages: message } },
  };
}

/** The message that `$maxCount` has just let go goes here too, and with the last of them their row. */
function evicted({ data: { roomId }, revision }: Posted): RowChange[] {
  const old = revision - MAX_MESSAGES;
  if (old < 0) return [];
  const row = bucketId(roomId, old);
  if (old % PER_ROW === PER_ROW - 1) return [{ purge: { _id: row } }];
  return [{ patch: row, update: { $pull: { messages: { revision: { $lte: old } } } } }];
}

function emptied({ data: { roomId } }: RecordedEvent<Shown>): RowChange[] {
  return [{ remove: roomId }, { purge: { room: roomId } }];
}
