/** Server side of SCRAM-SHA-256 (RFC 5802, RFC 7677): mutual proof of a password without sending it. */
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from 'node:crypto';

/** Minimum that clients accept. The password is random, so more would only cost time. */
const ITERATIONS = 4096;

/** Data derived from the password to verify proofs. */
export interface Verifier {
  readonly salt: Buffer;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** One authentication: the server's challenge and the check of the client's final message. */
export interface Conversation {
  readonly challenge: string;
  /** Returns the server's own proof, or undefined if the client does not know the password. */
  accept(clientFinal: string): string | undefined;
}

const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();

/** Creates a verifier. `password` must be ASCII, so it needs no SASLprep. */
export function createVerifier(password: string): Verifier {
  const salt = randomBytes(28);
  const saltedPassword = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256');
  return { salt, storedKey: sha256(hmac(saltedPassword, 'Client Key')), serverKey: hmac(saltedPassword, 'Server Key') };
}

/** Starts with the client's first message. Returns undefined if it is malformed or names another user. */
export function startConversation(verifier: Verifier, user: string, clientFirst: string): Conversation | undefined {
  const [, bare, name, nonce] = /^n,,(n=([^,]*),r=([\x21-\x2b\x2d-\x7e]{16,128}))$/.exec(clientFirst) ?? [];
  if (bare === undefined || nonce === undefined || name !== user) return undefined;
  const fullNonce = nonce + randomBytes(24).toString('base64');
  const challenge = `r=${fullNonce},s=${verifier.salt.toString('base64')},i=${ITERATIONS}`;
  return {
    challenge,
    accept(clientFinal) {
      // "biws" is base64 for "n,,": no channel binding.
      const withoutProof = `c=biws,r=${fullNonce}`;
      if (!clientFinal.startsWith(`${withoutProof},p=`)) return undefined;
      const proof = Buffer.from(clientFinal.slice(withoutProof.length + 3), 'base64');
      const authMessage = `${bare},${challenge},${withoutProof}`;
      const signature = hmac(verifier.storedKey, authMessage);
      if (proof.length !== signature.length) return undefined;
      const clientKey = proof.map((byte, index) => byte ^ signature[index]!);
      if (!timingSafeEqual(sha256(clientKey as Buffer), verifier.storedKey)) return undefined;
      return `v=${hmac(verifier.serverKey, authMessage).toString('base64')}`;
    },
  };
}
