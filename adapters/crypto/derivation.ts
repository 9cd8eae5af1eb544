/**
 * Values derived from the installation's own key, so that a repeated command finds what its first run made.
 *
 * That key stands in the key database under the secret, like every other: log and key database together do not yield
 * what is derived. It is not derived from the secret itself, so that values stay the same when the secret is rotated.
 * Whoever held both the secret and the key database of a time can therefore derive values of later times too: a
 * rotation keeps out who gets one of the two from now on, not who had both.
 */
import { createHmac } from 'node:crypto';
import { timestampOf } from '../../application/command/index.js';
import type { Derivation } from '../../application/ports/index.js';

/** What ids are written in, in the order in which stores sort them. */
const SORTED = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
/** 36 bits of time: until 2109. The other 96 bits of an id are derived: so many are promised of every id. */
const TIME_CHARS = 6;
const TICK_MS = 64;

export function createDerivation(installationKey: Buffer): Derivation {
  const secret: Derivation['secret'] = (purpose, ...parts) =>
    createHmac('sha256', installationKey)
      // Lengths are part of the text, so that no two lists of parts read the same.
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
      return sorted(time) + derived.slice(0, derived.length - TIME_CHARS);
    },
  };
}

/** Of a later time, Unix ms, a later text, but for those of one tick. */
function sorted(time: number): string {
  let text = '';
  for (let rest = Math.floor(time / TICK_MS); text.length < TIME_CHARS; rest = Math.floor(rest / SORTED.length))
    text = SORTED[rest % SORTED.length] + text;
  return text;
}
