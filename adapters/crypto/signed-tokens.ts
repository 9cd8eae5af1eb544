/** Signed tokens (JWT, HS256) by jose. */
import type { Claims, SignedTokens } from '../../application/identity-ports.js';

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
      if (token.length > MOST_CHARACTERS) return undefined;
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

const isClaims = (value: unknown): value is Claims =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Claims>).iat === 'number' &&
  typeof (value as Partial<Claims>).exp === 'number';
