/** AES-256-GCM with a random nonce, and key derivation with HKDF-SHA-256. */
import { type Bytes, randomBytes } from './bytes.js';

const AES = 'AES-GCM';
const NONCE_BYTES = 12;
/** Bytes of each key. */
export const KEY_BYTES = 32;

export interface Sealed {
  readonly nonce: Bytes;
  readonly ciphertext: Bytes;
}

/** `context` is authenticated: opening needs the same. */
export async function encrypt(key: CryptoKey, content: Bytes, context: Bytes): Promise<Sealed> {
  const nonce = randomBytes(NONCE_BYTES);
  const ciphertext = await crypto.subtle.encrypt({ name: AES, iv: nonce, additionalData: context }, key, content);
  return { nonce, ciphertext: new Uint8Array(ciphertext) };
}

/** Rejects if the key, the context or a bit of the ciphertext differs. */
export async function decrypt(key: CryptoKey, { nonce, ciphertext }: Sealed, context: Bytes): Promise<Bytes> {
  const options = { name: AES, iv: nonce, additionalData: context };
  return new Uint8Array(await crypto.subtle.decrypt(options, key, ciphertext));
}

export const importCipherKey = (raw: Bytes): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', raw, AES, false, ['encrypt', 'decrypt']);

/** A key that scripts can use and cannot read. */
export const generateCipherKey = (): Promise<CryptoKey> =>
  crypto.subtle.generateKey({ name: AES, length: 8 * KEY_BYTES }, false, ['encrypt', 'decrypt']);

/** Derives 32 bytes; different contexts give independent keys. */
export async function deriveBytes(secret: Bytes, context: Bytes): Promise<Bytes> {
  const base = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits']);
  const options = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: context };
  return new Uint8Array(await crypto.subtle.deriveBits(options, base, 8 * KEY_BYTES));
}

export const sha256 = async (content: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', content));
