/** Every event of the room service: its versions, schemas, and what of it is sealed under the room's key. */
import type { Catalog, EventSpec, JsonSchema, Sealing } from '../shared/catalog.js';
import { roomStream } from './room.js';

/** The subject whose key seals all that is said in a room, and that it is who says it. */
export const roomSubject = ({ roomId }: { roomId: string }): string => roomStream(roomId);

const id = { type: 'string', minLength: 1 } as const;
const time = { type: 'integer', minimum: 0 } as const;
const index = { type: 'integer', minimum: 0 } as const;

const object = (properties: { [name: string]: JsonSchema }): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
});

/** Version 1 of an event in a room. */
const event = (
  properties: { [name: string]: JsonSchema },
  more: { sealed?: Sealing; erases?: EventSpec['erases'] } = {},
): EventSpec => ({ versions: [{ schema: object({ roomId: id, ...properties }) }], ...more });

const signingPublicKey = {
  anyOf: [object({ kty: { const: 'EC' }, crv: { const: 'P-256' }, x: id, y: id }), { type: 'null' }],
};

const envelope = {
  anyOf: [
    object({
      keyVersion: index,
      chainId: id,
      messageIndex: index,
      chainKeyNonce: id,
      chainKeyCiphertext: id,
      nonce: id,
      ciphertext: id,
      signature: id,
    }),
    { type: 'null' },
  ],
};

export const catalog: Catalog = {
  service: 'rooms',
  events: {
    RoomCreated: event({ createdAt: time, expiresAt: time }),
    ParticipantJoined: event(
      { participantId: id, joinedAt: time, tokenHash: id, secret: object({ name: id, signingPublicKey }) },
      { sealed: { subject: roomSubject, erased: { name: 'Unknown Guest', signingPublicKey: null } } },
    ),
    InviteCreated: event({ inviteId: id, by: id, inviteHash: id, createdAt: time }),
    InviteRedeemed: event({ inviteId: id, participantId: id, redeemedAt: time }),
    RoomBurned: event({ by: id, burnedAt: time }, { erases: roomSubject }),
    RoomExpired: event({ expiredAt: time }, { erases: roomSubject }),
    RoomErased: event({ erasedAt: time }, { erases: roomSubject }),
    MessagePosted: event(
      {
        messageId: id,
        senderId: id,
        createdAt: time,
        expiresAt: time,
        digest: id,
        secret: object({ envelope }),
      },
      { sealed: { subject: roomSubject, erased: { envelope: null } } },
    ),
  },
};
