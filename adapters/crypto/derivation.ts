/**
 * Derives values from the installation's key, so that a repeated command finds what its first run created.
 *
 * The key is stored wrapped under the secret, so log and key database alone do not reveal derived values. It is
 * not derived from the secret, so values survive a rotation. An attacker who once had both the secret and the key
 * database can therefore derive later values too: rotation only protects against those who get one of the two
 * afterwards.
 */
import { createHmac } from 'node:crypto';
import { timestampOf } from '../../application/command/index.js';
import type { Derivation } from '../../application/ports/index.js';

/** Alphabet of ids, in the order in which stores sort. */
const ALPHABET = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** 36 bits of time, until 2109. The other 96 bits are derived; every id has at least 96. */
const TIME_CHARS = 6;
const TICK_MS = 64;

export function createDerivation(installationKey: Buffer): Derivation {
  const secret: Derivation['secret'] = (purpose, ...parts) =>
    createHmac('sha256', installationKey)
      // Lengths make different lists of parts different texts.
      .update([purpose, ...parts].map((part) => `${Buffer.byteLength(part)}:${part}`).join())
      .digest();
  const id: Derivation['id'] = (purpose, ...parts) =>
    secret(purpose, ...parts)
      .subarray(0, 16)
      .toString('base64url');
  return {
    secret,
    id,
    idInTime(purpose, commandId) {
      const derived = id(purpose, commandId);
      const time = timestampOf(commandId);
      if (time === undefined) return derived;
      return encodeTime(time) + derived.slice(0, derived.length - TIME_CHARS);
    },
  };
}

/** Encodes Unix ms so that later times sort later, except within one tick. */
function encodeTime(time: number): string {
  let text = '';
  for (let rest = Math.floor(time / TICK_MS); text.length < TIME_CHARS; rest = Math.floor(rest / ALPHABET.length))
    text = ALPHABET[rest % ALPHABET.length] + text;
  return text;
}
