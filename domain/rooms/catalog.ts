/** Events of the room service: versions, schemas, and the fields encrypted with the room's key. */
import {
  type Catalog,
  count,
  type DataOf,
  type EventOf,
  event,
  id,
  none,
  object,
  oneOf,
  time,
} from '../shared/index.js';

/** Key subject that encrypts a room's messages and participants. */
export const roomSubject = ({ roomId }: { readonly roomId: string }): string => `rooms.room-${roomId}`;

/** Name of participants without a name, or with an erased one. */
export const NAMELESS = 'Unknown Guest';

/** A public P-256 key as JWK; other members that a client sends are dropped. */
const signingPublicKey = object({ kty: { const: 'EC' }, crv: { const: 'P-256' }, x: id, y: id });
export type SigningPublicKey = DataOf<typeof signingPublicKey>;

/** End-to-end encrypted and signed; verified by the receiving clients only. */
const envelope = object({
  keyVersion: count,
  chainId: id,
  messageIndex: count,
  chainKeyNonce: id,
  chainKeyCiphertext: id,
  nonce: id,
  ciphertext: id,
  signature: id,
});
export type Envelope = DataOf<typeof envelope>;

const erases = roomSubject;

export const catalog = {
  service: 'rooms',
  events: {
    RoomCreated: event(object({ roomId: id, createdAt: time, expiresAt: time })),
    ParticipantJoined: event(
      object({
        roomId: id,
        participantId: id,
        joinedAt: time,
        tokenHash: id,
        secret: object({ name: id, signingPublicKey: oneOf(signingPublicKey, none) }),
      }),
      { sealed: { subject: roomSubject, erased: { name: NAMELESS, signingPublicKey: null } } },
    ),
    InviteCreated: event(object({ roomId: id, inviteId: id, by: id, inviteHash: id, createdAt: time })),
    InviteRedeemed: event(object({ roomId: id, inviteId: id, participantId: id, redeemedAt: time })),
    RoomBurned: event(object({ roomId: id, by: id, burnedAt: time }), { erases }),
    RoomExpired: event(object({ roomId: id, expiredAt: time }), { erases }),
    /** Last step after burning or expiry: the key is destroyed and the messages are tombstoned. */
    RoomErased: event(object({ roomId: id, erasedAt: time }), { erases }),
    MessagePosted: event(
      object({
        roomId: id,
        messageId: id,
        senderId: id,
        createdAt: time,
        expiresAt: time,
        digest: id,
        secret: object({ envelope: oneOf(envelope, none) }),
      }),
      { sealed: { subject: roomSubject, erased: { envelope: null } } },
    ),
  },
} as const satisfies Catalog;

type Rooms = typeof catalog;

/** Events of the room service: all, or those of the given types. */
export type RoomsEvent<Type extends keyof Rooms['events'] = keyof Rooms['events']> = EventOf<Rooms, Type>;
