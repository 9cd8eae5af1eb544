/** AES-256-GCM with a fresh 96-bit nonce per text: `nonce | ciphertext | tag`, base64. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Cipher } from '../../application/vault.js';

const NONCE = 12;
const TAG = 16;

export const aes256gcm: Cipher = {
  newKey: () => randomBytes(32),

  seal(key, text) {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
      'base64',
    );
  },

  open(key, sealed) {
    const bytes = Buffer.from(sealed, 'base64');
    if (bytes.length < NONCE + TAG) throw new Error('a sealed text is too short');
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE));
    decipher.setAuthTag(bytes.subarray(-TAG));
    return decipher.update(bytes.subarray(NONCE, -TAG), undefined, 'utf8') + decipher.final('utf8');
  },
};
