/** A participant's signing key (ECDSA P-256) and its fingerprint, which people compare. */
import { type Bytes, canonical, fromBase64url, toBase64url } from './bytes.js';
import { sha256 } from './cipher.js';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A public P-256 key in the members of a JWK that identify it. */
export interface PublicKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
}

/** The private key cannot be read by scripts. */
export const generateSigningKeys = (): Promise<CryptoKeyPair> =>
  crypto.subtle.generateKey(ECDSA, false, ['sign', 'verify']);

export async function publicKeyOf({ publicKey }: CryptoKeyPair): Promise<PublicKey> {
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey);
  return { kty: 'EC', crv: 'P-256', x, y };
}

/** Rejects if it is not a point of the curve. */
export const importVerifyingKey = ({ kty, crv, x, y }: PublicKey): Promise<CryptoKey> =>
  crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, true, ['verify']);

export const sign = async (privateKey: CryptoKey, signed: Bytes): Promise<string> =>
  toBase64url(await crypto.subtle.sign(ECDSA, privateKey, signed));

export const verify = (publicKey: CryptoKey, signature: string, signed: Bytes): Promise<boolean> =>
  crypto.subtle.verify(ECDSA, publicKey, fromBase64url(signature), signed);

const GROUPS = 6;
const GROUP_BYTES = 5;
const GROUP_DIGITS = 5;

/** 30 digits in groups of five: 99 bits of a hash of room, participant and key. */
export async function fingerprintOf(roomId: string, participantId: string, { x, y }: PublicKey): Promise<string> {
  const hash = await sha256(canonical('fingerprint', roomId, participantId, x, y));
  return Array.from({ length: GROUPS }, (_, group) => {
    const bytes = hash.subarray(group * GROUP_BYTES, (group + 1) * GROUP_BYTES);
    const value = bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    return String(value % 10 ** GROUP_DIGITS).padStart(GROUP_DIGITS, '0');
  }).join(' ');
}
