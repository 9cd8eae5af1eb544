/** Rooms for specs: their events and commands, with only what a sentence is about left to say. */
import type { Envelope } from '../../domain/rooms/catalog.js';
import type { MessagePosted, PostMessage } from '../../domain/rooms/messages.js';
import type { RoomCommand, RoomEvent } from '../../domain/rooms/room.js';

export const roomId = 'Zr8uA0qkXJ2hW7c1dEfGhA';
export const NOON = 1_800_000_000_000;
export const HOUR = 3_600_000;

export const signingPublicKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const;

export const envelope: Envelope = {
  keyVersion: 1,
  chainId: 'Y2hhaW4',
  messageIndex: 0,
  chainKeyNonce: 'bm9uY2U',
  chainKeyCiphertext: 'a2V5',
  nonce: 'bm9uY2Uy',
  ciphertext: 'aGVsbG8',
  signature: 'c2lnbmF0dXJl',
};

export const created: RoomEvent = {
  type: 'RoomCreated',
  data: { roomId, createdAt: NOON, expiresAt: NOON + HOUR },
};

export const joined = (participantId: string, name = participantId, joinedAt = NOON): RoomEvent => ({
  type: 'ParticipantJoined',
  data: {
    roomId,
    participantId,
    joinedAt,
    tokenHash: `session-of-${participantId}`,
    secret: { name, signingPublicKey },
  },
});

export const invited = (inviteId: string, by = 'ada'): RoomEvent => ({
  type: 'InviteCreated',
  data: { roomId, inviteId, by, inviteHash: `hash-of-${inviteId}`, createdAt: NOON },
});

export const redeemed = (inviteId: string, participantId: string): RoomEvent => ({
  type: 'InviteRedeemed',
  data: { roomId, inviteId, participantId, redeemedAt: NOON },
});

export const burned: RoomEvent = { type: 'RoomBurned', data: { roomId, by: 'ada', burnedAt: NOON } };
export const expired: RoomEvent = { type: 'RoomExpired', data: { roomId, expiredAt: NOON + HOUR } };
export const erased: RoomEvent = { type: 'RoomErased', data: { roomId, erasedAt: NOON } };

export const createRoom = (name?: string): RoomCommand => ({
  type: 'CreateRoom',
  roomId,
  ttlMs: HOUR,
  now: NOON,
  participantId: 'ada',
  tokenHash: 'session-of-ada',
  signingPublicKey,
  ...(name === undefined ? {} : { name }),
});

export const createInvite = (inviteId: string, by = 'ada', now = NOON): RoomCommand => ({
  type: 'CreateInvite',
  roomId,
  by,
  inviteId,
  inviteHash: `hash-of-${inviteId}`,
  now,
});

export const joinRoom = (inviteId: string, participantId: string, now = NOON): RoomCommand => ({
  type: 'JoinRoom',
  roomId,
  inviteHash: `hash-of-${inviteId}`,
  participantId,
  tokenHash: `session-of-${participantId}`,
  name: participantId,
  signingPublicKey,
  now,
});

export const burnRoom = (by = 'ada', now = NOON): RoomCommand => ({ type: 'BurnRoom', roomId, by, now });

export const postMessage = (messageId: string, by = 'ada', now = NOON, digest = messageId): PostMessage => ({
  type: 'PostMessage',
  roomId,
  messageId,
  by,
  digest,
  envelope,
  expiresAt: NOON + HOUR,
  now,
});

export const posted = (messageId: string, by = 'ada', createdAt = NOON, digest = messageId): MessagePosted => ({
  type: 'MessagePosted',
  data: {
    roomId,
    messageId,
    senderId: by,
    createdAt,
    expiresAt: NOON + HOUR,
    digest,
    secret: { envelope },
  },
});
