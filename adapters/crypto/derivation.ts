/** Values derived from the installation's own key, so that a repeated command finds what its first run made. */
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
