/** Signed tokens (JWT, HS256) by jose. */
import type { Claims, SignedTokens } from '../../application/ports/index.js';

const ALGORITHM = 'HS256';
/** Longer ones were never made here. */
const MOST_CHARACTERS = 4096;

let loading: Promise<typeof import('jose')> | undefined;
/** Only when somebody signs in: a node that starts needs none of it. */
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
      if (token.length > MOST_CHARACTERS || !hasCanonicalSignature(token)) return undefined;
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

/** Exactly as `sign` writes it: decoders pass over trailing characters and unused bits, and would take many texts for one. */
function hasCanonicalSignature(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  return Buffer.from(signature, 'base64url').toString('base64url') === signature;
}

const isClaims = (value: unknown): value is Claims =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Claims>).iat === 'number' &&
  typeof (value as Partial<Claims>).exp === 'number';
