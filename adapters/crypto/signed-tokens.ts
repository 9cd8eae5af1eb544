/** Signs and verifies tokens (JWT, HS256) with jose. */
import type { Claims, SignedTokens } from '../../application/ports/index.js';

const ALGORITHM = 'HS256';
/** Longer tokens were not issued here. */
const MAX_CHARACTERS = 4096;

let loading: Promise<typeof import('jose')> | undefined;
/** Loaded at the first sign-in, not at start. */
const jose = () => {
  loading ??= import('jose');
  return loading;
};

export function createSignedTokens(key: Uint8Array): SignedTokens {
  return {
    async sign(claims) {
      const { CompactSign } = await jose();
      return new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
        .sign(key);
    },
    async read(token) {
      if (token.length > MAX_CHARACTERS || !hasCanonicalSignature(token)) return undefined;
      const { compactVerify } = await jose();
      try {
        const { payload } = await compactVerify(token, key, { algorithms: [ALGORITHM] });
        const claims: unknown = JSON.parse(Buffer.from(payload).toString());
        return isClaims(claims) ? claims : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/**
 * Accepts only the exact encoding of `sign`: decoders ignore trailing characters and unused bits, so one token
 * would have many valid texts.
 */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

const isClaims = (value: unknown): value is Claims =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Claims>).iat === 'number' &&
  typeof (value as Partial<Claims>).exp === 'number';
