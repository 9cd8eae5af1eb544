/** AES-256-GCM with a fresh 96-bit nonce per text: `nonce | ciphertext | tag`, base64 where it is a text; long texts deflated first. */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes, randomFillSync } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Cipher } from '../../application/secrets/index.js';

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
    return (deflate ? DEFLATED : '') + encrypt(key, plain).toString('base64');
  },

  open(key, sealed) {
    const deflated = sealed.startsWith(DEFLATED);
    const plain = decrypt(key, Buffer.from(deflated ? sealed.slice(DEFLATED.length) : sealed, 'base64'));
    return (deflated ? inflateRawSync(plain) : plain).toString('utf8');
  },

  sealBytes: encrypt,
  openBytes: decrypt,

  digester(key, purpose) {
    const derived = Buffer.from(hkdfSync('sha256', key, '', `annals digest ${purpose}`, 32)).toString('hex');
    // As safe as HMAC, at a fifth of its cost: the key has one length, so that no other key and text read the same,
    // and the half of the state that SHA-512/256 keeps to itself leaves nothing to go on from to longer texts.
    return (text) => hash('sha512-256', derived + text, 'hex');
  },
};

/** Many at once: a call of the system for each took a third of what a short text takes to be sealed. */
const nonces = Buffer.alloc(256 * NONCE);
let used = nonces.length;

/** Good until the next one is asked for; it is no secret. */
function freshNonce(): Buffer {
  if (used === nonces.length) {
    randomFillSync(nonces);
    used = 0;
  }
  used += NONCE;
  return nonces.subarray(used - NONCE, used);
}

function encrypt(key: Buffer, plain: Uint8Array): Buffer {
  const nonce = freshNonce();
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Uint8Array): Buffer {
  if (sealed.length < NONCE + TAG) throw new Error('what is sealed is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE));
  decipher.setAuthTag(sealed.subarray(-TAG));
  const plain = decipher.update(sealed.subarray(NONCE, -TAG));
  // Checks the tag; GCM keeps nothing back, so there is nothing to add.
  decipher.final();
  return plain;
}
