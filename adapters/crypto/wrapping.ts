/** Wraps keys under a secret: AES-256-GCM, each bound to the name of what it belongs to, so that none can be swapped. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** The length from which on a secret is taken for one that can't be guessed. */
export const SECRET_CHARACTERS = 32;

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Where the secret that wraps all keys is kept by the program itself, when none is configured. */
export interface StoredSecret {
  read(): Promise<string | undefined>;
  /** Keeps this one if none is kept; resolves, when it is flushed, with the one that is. */
  keep(secret: string): Promise<string>;
  /** One or the other is kept at any moment, also in a crash. */
  replace(secret: string): Promise<void>;
  remove(): Promise<void>;
}

/** The configured or kept secret is not the one that the keys are wrapped under; one line for a person. */
export class WrongSecret extends Error {
  override readonly name = 'WrongSecret';
}

export interface Wrapping {
  /** Names the secret without telling it: derived from it, one way. */
  readonly id: string;
  wrap(name: string, key: Uint8Array): Buffer;
  /** Throws for what was wrapped under another secret or for another name, or is damaged. */
  unwrap(name: string, wrapped: Uint8Array): Buffer;
}

const ALGORITHM = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;

export function wrappingUnder(secret: string): Wrapping {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `annals ${purpose}`, length));
  const key = derived('key wrapping', 32);
  return {
    id: derived('name of a secret', 12).toString('base64url'),
    wrap(name, plain) {
      const nonce = randomBytes(NONCE);
      const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(name));
      return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    },
    unwrap(name, wrapped) {
      if (wrapped.length < NONCE + TAG) throw new Error('a wrapped key is too short');
      const decipher = createDecipheriv(ALGORITHM, key, wrapped.subarray(0, NONCE), { authTagLength: TAG });
      decipher.setAAD(Buffer.from(name)).setAuthTag(wrapped.subarray(-TAG));
      return Buffer.concat([decipher.update(wrapped.subarray(NONCE, -TAG)), decipher.final()]);
    },
  };
}
