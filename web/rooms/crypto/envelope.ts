/** Messages as the service stores them: sealed and signed by their sender, verified and opened by the others. */
import { type Bytes, canonical, fromBase64url, toBase64url, wipe } from './bytes.js';
import { type ChainStep, messageKeyOf } from './chain.js';
import { decrypt, deriveBytes, encrypt, importCipherKey } from './cipher.js';
import { pad, unpad } from './padding.js';
import { sign, verify } from './signing.js';

export interface Envelope {
  readonly keyVersion: number;
  readonly chainId: string;
  readonly messageIndex: number;
  readonly chainKeyNonce: string;
  readonly chainKeyCiphertext: string;
  readonly nonce: string;
  readonly ciphertext: string;
  readonly signature: string;
}

/** One version of the room's key: encrypts chain keys, nothing else. */
export interface RoomKey {
  readonly version: number;
  readonly wrapping: CryptoKey;
}

/** Room and sender of a message. The signature covers them: an envelope opens in no other room and for no other sender. */
export interface Place {
  readonly roomId: string;
  readonly senderId: string;
}

/** Why an envelope was rejected. */
export type EnvelopeFault = 'forged' | 'damaged' | 'key-missing';

export class EnvelopeError extends Error {
  readonly fault: EnvelopeFault;
  constructor(fault: EnvelopeFault) {
    super(`Envelope rejected: ${fault}`);
    this.fault = fault;
  }
}

export async function importRoomKey(version: number, raw: Bytes): Promise<RoomKey> {
  const bytes = await deriveBytes(raw, canonical('chain key wrapping', version));
  const wrapping = await importCipherKey(bytes);
  wipe(bytes);
  return { version, wrapping };
}

type Step = Pick<Envelope, 'keyVersion' | 'chainId' | 'messageIndex'>;

const contextOf = (purpose: string, { roomId, senderId }: Place, { keyVersion, chainId, messageIndex }: Step) =>
  canonical(purpose, roomId, senderId, keyVersion, chainId, messageIndex);

const signedPart = ({ roomId, senderId }: Place, envelope: Omit<Envelope, 'signature'>) =>
  canonical(
    'signed message',
    roomId,
    senderId,
    envelope.keyVersion,
    envelope.chainId,
    envelope.messageIndex,
    envelope.chainKeyNonce,
    envelope.chainKeyCiphertext,
    envelope.nonce,
    envelope.ciphertext,
  );

/** Encrypts and signs a content. Each step of a chain seals one message. */
export async function seal(
  { version, wrapping }: RoomKey,
  step: ChainStep,
  signingKey: CryptoKey,
  place: Place,
  content: Bytes,
): Promise<Envelope> {
  const { chainId, messageIndex, chainKey } = step;
  const header = { keyVersion: version, chainId, messageIndex };
  const wrapped = await encrypt(wrapping, chainKey, contextOf('chain key', place, header));
  const sealed = await encrypt(await messageKeyOf(step), pad(content), contextOf('message', place, header));
  const unsigned = {
    ...header,
    chainKeyNonce: toBase64url(wrapped.nonce),
    chainKeyCiphertext: toBase64url(wrapped.ciphertext),
    nonce: toBase64url(sealed.nonce),
    ciphertext: toBase64url(sealed.ciphertext),
  };
  return { ...unsigned, signature: await sign(signingKey, signedPart(place, unsigned)) };
}

/** The content. Rejects with an `EnvelopeError` unless the sender signed exactly this for this room. */
export async function open(
  roomKey: RoomKey | undefined,
  verifyingKey: CryptoKey,
  place: Place,
  envelope: Envelope,
): Promise<Bytes> {
  const isSigned = await verify(verifyingKey, envelope.signature, signedPart(place, envelope)).catch(() => false);
  if (!isSigned) throw new EnvelopeError('forged');
  if (!roomKey || roomKey.version !== envelope.keyVersion) throw new EnvelopeError('key-missing');
  const { chainId, messageIndex } = envelope;
  try {
    const chainKey = await decrypt(
      roomKey.wrapping,
      { nonce: fromBase64url(envelope.chainKeyNonce), ciphertext: fromBase64url(envelope.chainKeyCiphertext) },
      contextOf('chain key', place, envelope),
    );
    const key = await messageKeyOf({ chainId, messageIndex, chainKey });
    wipe(chainKey);
    const sealed = { nonce: fromBase64url(envelope.nonce), ciphertext: fromBase64url(envelope.ciphertext) };
    return unpad(await decrypt(key, sealed, contextOf('message', place, envelope)));
  } catch {
    throw new EnvelopeError('damaged');
  }
}
