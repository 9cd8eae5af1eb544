/**
 * What clients of a room receive: views of its participants and messages, with times in ISO 8601 and public keys as JWKs
 * for `crypto.subtle.importKey`; and the audience of its events. Streams are keyed by room id and end with the room.
 */
import type { Envelope, RoomsEvent, SigningPublicKey } from '../../domain/rooms/catalog.js';
import type { Participant } from '../../domain/rooms/room.js';
import type { RevealedEvent } from '../ports/index.js';
import type { Audience, Delivery, Message } from '../subscription/index.js';

export interface ParticipantView {
  readonly id: string;
  readonly name: string;
  readonly joinedAt: string;
  readonly signingPublicKey: (SigningPublicKey & { ext: true; key_ops: readonly ['verify'] }) | null;
}

export interface MessageView extends Envelope {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** A message with its envelope decrypted. */
export interface PostedMessage {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly envelope: Envelope;
}

export const iso = (time: number): string => new Date(time).toISOString();

export function participantView({
  id,
  name,
  joinedAt,
  signingPublicKey,
}: Omit<Participant, 'tokenHash'>): ParticipantView {
  const key = signingPublicKey && { ...signingPublicKey, ext: true as const, key_ops: ['verify'] as const };
  return { id, name, joinedAt: iso(joinedAt), signingPublicKey: key };
}

export function messageView(message: PostedMessage): MessageView {
  const { id, roomId, senderId, createdAt, expiresAt, envelope } = message;
  return { ...envelope, id, roomId, senderId, createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
}

/**
 * Ended rooms that are being erased, with the final message of their streams. A client that was authenticated just
 * before the end and connects just after it receives that message. Erasing takes longer than connecting.
 */
export type EndedRooms = ReadonlyMap<string, Message>;

const burned = (roomId: string): Message => ({ type: 'ROOM_BURNED', payload: { roomId } });

export const connected = (roomId: string, participantId: string, expiresAt: number): Message => ({
  type: 'CONNECTED',
  payload: { roomId, participantId, expiresAt: iso(expiresAt) },
});

/** Sent when the time is up, even if the expiry event is written later. */
export const expired = (roomId: string): Message => ({ type: 'ROOM_EXPIRED', payload: { roomId } });

export const rooms: Audience<EndedRooms, RoomsEvent> = {
  initialState: new Map(),
  snapshot: {
    version: 1,
    parts: (ended) => ended.entries(),
    from: (parts: readonly (readonly [string, Message])[]) => new Map(parts),
  },
  on: {
    RoomCreated: {},
    InviteCreated: {},
    InviteRedeemed: {},

    ParticipantJoined: {
      deliver({ data, erased }, ended) {
        const { roomId, participantId: id, joinedAt, secret } = data;
        if (erased || ended.has(roomId)) return [];
        const payload = participantView({ id, joinedAt, ...secret });
        return [{ to: [roomId], message: { type: 'PARTICIPANT_JOINED', payload } }];
      },
    },

    MessagePosted: {
      deliver({ data }, ended) {
        const { roomId, messageId: id, secret, senderId, createdAt, expiresAt } = data;
        const { envelope } = secret;
        if (!envelope || ended.has(roomId)) return [];
        const payload = messageView({ id, roomId, senderId, createdAt, expiresAt, envelope });
        return [{ to: [roomId], message: { type: 'NEW_MESSAGE', payload } }];
      },
    },

    RoomBurned: {
      evolve: (ended, { data: { roomId } }) => new Map(ended).set(roomId, burned(roomId)),
      deliver: deliverRoomEnd,
    },

    RoomExpired: {
      evolve: (ended, { data: { roomId } }) => new Map(ended).set(roomId, expired(roomId)),
      deliver: deliverRoomEnd,
    },

    RoomErased: {
      evolve(ended, { data: { roomId } }) {
        if (!ended.has(roomId)) return ended;
        const remaining = new Map(ended);
        remaining.delete(roomId);
        return remaining;
      },
    },
  },
};

function deliverRoomEnd(
  { data: { roomId } }: RevealedEvent<RoomsEvent<'RoomBurned' | 'RoomExpired'>>,
  ended: EndedRooms,
): readonly Delivery[] {
  const message = ended.get(roomId);
  return message ? [{ to: [roomId], message, ends: true }] : [];
}
