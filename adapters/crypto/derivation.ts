/**
 * Values derived from the installation's own key, so that a repeated command finds what its first run made.
 *
 * That key stands in the key database under the secret, like every other: log and key database together do not yield
 * what is derived. It is not derived from the secret itself, so that values stay the same when the secret is rotated.
 * Whoever held both the secret and the key database of a time can therefore derive values of later times too: a
 * rotation keeps out who gets one of the two from now on, not who had both.
 */
import { createHmac } from 'node:crypto';
import type { Derivation } from '../../application/ports.js';

export function createDerivation(installationKey: Buffer): Derivation {
  const secret: Derivation['secret'] = (purpose, ...parts) =>
    createHmac('sha256', installationKey)
      // Lengths are part of the text, so that no two lists of parts read the same.
      .update([purpose, ...parts].map((part) => `${Buffer.byteLength(part)}:${part}`).join())
      .digest();
  return {
    secret,
    id: (purpose, ...parts) =>
      secret(purpose, ...parts)
        .subarray(0, 16)
        .toString('base64url'),
  };
}
