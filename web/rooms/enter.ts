/** Ways into a room: create one, join by an invite, or take over the newer key of a link to a room one is in. */
import { createRoom, joinRoom } from './api.js';
import type { Entered } from './contract.js';
import type { PublicKey } from './crypto/protocol.js';
import {
  generateAgreementKeys,
  generateCipherKey,
  generateSigningKeys,
  KEY_BYTES,
  publicKeyOf,
  randomBytes,
  sha256,
  toBase64url,
  utf8,
} from './crypto/protocol.js';
import type { Invite } from './invite-link.js';
import { type RoomSecrets, sealSecrets, updateSecrets } from './secrets.js';
import { rooms } from './store.js';

const DIGEST_BYTES = 16;

/** Of an invite token, or a signing key, in links and introductions. */
export const digestOf = async (text: string): Promise<string> =>
  toBase64url((await sha256(utf8(text))).subarray(0, DIGEST_BYTES));

export const keyDigestOf = ({ x, y }: PublicKey): Promise<string> => digestOf(`${x}.${y}`);

interface DeviceKeys {
  readonly signing: CryptoKeyPair;
  readonly agreement: CryptoKeyPair;
  readonly localKey: CryptoKey;
}

async function generateKeys(): Promise<DeviceKeys> {
  const [signing, agreement, localKey] = await Promise.all([
    generateSigningKeys(),
    generateAgreementKeys(),
    generateCipherKey(),
  ]);
  return { signing, agreement, localKey };
}

type Beginning = Omit<RoomSecrets, 'token' | 'issued'>;

async function save(
  keys: DeviceKeys,
  { roomId, participantId, expiresAt, sessionToken }: Entered,
  beginning: Beginning,
) {
  const secrets = await sealSecrets(keys.localKey, roomId, { ...beginning, token: sessionToken, issued: [] });
  await rooms.put({ ...keys, roomId, participantId, expiresAt: Date.parse(expiresAt), secrets });
  return roomId;
}

/** Returns the id of the new room. */
export async function create(name: string, title: string, ttlMs: number): Promise<string> {
  const keys = await generateKeys();
  const roomKey = toBase64url(randomBytes(KEY_BYTES));
  const entered = await createRoom(await publicKeyOf(keys.signing), ttlMs);
  return save(keys, entered, { name, title, roomKeys: { 1: roomKey }, verified: {} });
}

/** Repeated after a lost answer, a join must be the same request: the invite works once. */
const attempts = new Map<string, { readonly keys: Promise<DeviceKeys>; readonly idempotencyKey: string }>();

/** Returns the id of the room. */
export async function join(invite: Invite, name: string): Promise<string> {
  const { roomId, token, roomKey, keyVersion, by, title = '' } = invite;
  const attempt = attempts.get(token) ?? { keys: generateKeys(), idempotencyKey: toBase64url(randomBytes(16)) };
  attempts.set(token, attempt);
  const keys = await attempt.keys;
  const entered = await joinRoom(roomId, token, await publicKeyOf(keys.signing), attempt.idempotencyKey);
  const inviter = entered.participants.find(({ id }) => id === by?.id)?.signingPublicKey;
  // A link that came over a channel of their own vouches for who made it.
  const isInviter = by && inviter && (await keyDigestOf(inviter)) === by.keyDigest;
  attempts.delete(token);
  return save(keys, entered, {
    name,
    title,
    roomKeys: { [keyVersion]: roomKey },
    invite: await digestOf(token),
    verified: isInviter ? { [by.id]: by.keyDigest } : {},
  });
}

/** For a participant: adds the key of a link that was made after a rotation they missed. */
export const addKeyOf = ({ roomId, roomKey, keyVersion }: Invite): Promise<unknown> =>
  updateSecrets(roomId, (secrets) => ({
    ...secrets,
    roomKeys: { [keyVersion]: roomKey, ...secrets.roomKeys },
  }));
