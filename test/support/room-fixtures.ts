/** Events and commands of encrypted rooms, and the cryptography of their clients. */
import { webcrypto } from 'node:crypto';
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

const { subtle } = webcrypto;
type Key = webcrypto.CryptoKey;

export interface SealedEnvelope {
  readonly keyVersion: number;
  readonly chainId: string;
  readonly messageIndex: number;
  readonly chainKeyNonce: string;
  readonly chainKeyCiphertext: string;
  readonly nonce: string;
  readonly ciphertext: string;
  readonly signature: string;
}

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const AES = 'AES-GCM';

export const text = (bytes: ArrayBuffer | Uint8Array): string =>
  Buffer.from(bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes)).toString('base64url');
const bytes = (encoded: string): Uint8Array => new Uint8Array(Buffer.from(encoded, 'base64url'));
const utf8 = (plain: string): Uint8Array => new TextEncoder().encode(plain);

export const random = (size: number): Uint8Array => webcrypto.getRandomValues(new Uint8Array(size));

/** The room's secret goes from person to person with the invite, never over the server. */
export const newRoomSecret = (): string => text(random(32));

export interface Signer {
  readonly publicKey: webcrypto.JsonWebKey;
  sign(signed: Uint8Array): Promise<string>;
}

export async function newSigner(): Promise<Signer> {
  const pair = await subtle.generateKey(ECDSA, false, ['sign', 'verify']);
  return {
    publicKey: await subtle.exportKey('jwk', pair.publicKey),
    sign: async (signed) => text(await subtle.sign(ECDSA, pair.privateKey, signed)),
  };
}

/** A sender's chain of messages in a room: a chain key, encrypted under the room's secret, and a key per message. */
export function newChain(roomSecret: string, { sign }: Signer) {
  const chainId = text(random(12));
  const chainKey = random(32);
  let next = 0;
  return {
    async seal(roomId: string, senderId: string, plain: string): Promise<SealedEnvelope> {
      const messageIndex = next++;
      const [chainKeyNonce, nonce] = [random(12), random(12)];
      const wrapping = await aesKey(bytes(roomSecret), ['encrypt']);
      const wrapped = await subtle.encrypt({ name: AES, iv: chainKeyNonce }, wrapping, chainKey);
      const key = await messageKey(chainKey, chainId, messageIndex, ['encrypt']);
      const ciphertext = await subtle.encrypt({ name: AES, iv: nonce }, key, utf8(plain));
      const unsigned = {
        keyVersion: 1,
        chainId,
        messageIndex,
        chainKeyNonce: text(chainKeyNonce),
        chainKeyCiphertext: text(wrapped),
        nonce: text(nonce),
        ciphertext: text(ciphertext),
      };
      return { ...unsigned, signature: await sign(signedPart(roomId, senderId, unsigned)) };
    },
  };
}

/** Decrypts a message; throws for another sender, room or room secret. */
export async function openEnvelope(
  roomSecret: string,
  senderKey: webcrypto.JsonWebKey,
  roomId: string,
  senderId: string,
  envelope: SealedEnvelope,
): Promise<string> {
  const verifying = await subtle.importKey('jwk', senderKey, ECDSA, false, ['verify']);
  const signed = signedPart(roomId, senderId, envelope);
  if (!(await subtle.verify(ECDSA, verifying, bytes(envelope.signature), signed))) {
    throw new Error('the signature is not of who is said to have sent this');
  }
  const { chainId, messageIndex, chainKeyNonce, chainKeyCiphertext, nonce, ciphertext } = envelope;
  const wrapping = await aesKey(bytes(roomSecret), ['decrypt']);
  const iv = bytes(chainKeyNonce);
  const chainKey = await subtle.decrypt({ name: AES, iv }, wrapping, bytes(chainKeyCiphertext));
  const key = await messageKey(new Uint8Array(chainKey), chainId, messageIndex, ['decrypt']);
  return new TextDecoder().decode(await subtle.decrypt({ name: AES, iv: bytes(nonce) }, key, bytes(ciphertext)));
}

const aesKey = (raw: Uint8Array, uses: ('encrypt' | 'decrypt')[]): Promise<Key> =>
  subtle.importKey('raw', raw, AES, false, uses);

async function messageKey(chainKey: Uint8Array, chainId: string, index: number, uses: ('encrypt' | 'decrypt')[]) {
  const base = await subtle.importKey('raw', chainKey, 'HKDF', false, ['deriveKey']);
  const info = utf8(`${chainId} ${index}`);
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  return subtle.deriveKey(derivation, base, { name: AES, length: 256 }, false, uses);
}

const signedPart = (roomId: string, senderId: string, envelope: Omit<SealedEnvelope, 'signature'>) =>
  utf8(
    JSON.stringify([
      roomId,
      senderId,
      envelope.keyVersion,
      envelope.chainId,
      envelope.messageIndex,
      envelope.chainKeyNonce,
      envelope.chainKeyCiphertext,
      envelope.nonce,
      envelope.ciphertext,
    ]),
  );
