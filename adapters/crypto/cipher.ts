/** AES-256-GCM with a fresh 96-bit nonce per text: `nonce | ciphertext | tag`, base64; long texts deflated first. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Cipher } from '../../application/vault.js';

const NONCE = 12;
const TAG = 16;
/** From this many characters on, deflating takes less time than what is written and sent of the rest. */
const DEFLATE_FROM = 2048;
/** Marks a deflated text; no base64 begins so. */
const DEFLATED = 'z:';

export const aes256gcm: Cipher = {
  newKey: () => randomBytes(32),

  seal(key, text) {
    const deflate = text.length >= DEFLATE_FROM;
    const plain = deflate ? deflateRawSync(text, { level: 1 }) : Buffer.from(text);
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const bytes = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return (deflate ? DEFLATED : '') + bytes.toString('base64');
  },

  open(key, sealed) {
    const deflated = sealed.startsWith(DEFLATED);
    const bytes = Buffer.from(deflated ? sealed.slice(DEFLATED.length) : sealed, 'base64');
    if (bytes.length < NONCE + TAG) throw new Error('a sealed text is too short');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE));
    decipher.setAuthTag(bytes.subarray(-TAG));
    const plain = Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]);
    return (deflated ? inflateRawSync(plain) : plain).toString('utf8');
  },
};
