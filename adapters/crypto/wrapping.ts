/** Wraps keys under a secret with AES-256-GCM, each bound to its owner's name, so that none can be swapped. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { decrypt, encrypt } from './cipher.js';

/** Minimum length of a configured secret, long enough not to be guessed. */
export const SECRET_CHARACTERS = 32;

export const newSecret = (): string => randomBytes(32).toString('base64url');

/** Storage of the secret that the program manages itself if none is configured. */
export interface StoredSecret {
  read(): Promise<string | undefined>;
  /** Stores the secret if there is none. Resolves with the stored one, once it is flushed. */
  storeIfAbsent(secret: string): Promise<string>;
  /** Replaces the secret atomically, also in a crash. */
  replace(secret: string): Promise<void>;
  remove(): Promise<void>;
}

/** The configured or stored secret does not open the keys; the message is for operators. */
export class WrongSecret extends Error {
  override readonly name = 'WrongSecret';
}

export interface Wrapping {
  /** Identifies the secret without revealing it: a one-way derivation. */
  readonly id: string;
  wrap(name: string, key: Uint8Array): Buffer;
  /** Throws if it was wrapped under another secret or for another name, or is damaged. */
  unwrap(name: string, wrapped: Uint8Array): Buffer;
}

export function wrappingUnder(secret: string): Wrapping {
  const derived = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `annals ${purpose}`, length));
  const key = derived('key wrapping', 32);
  return {
    id: derived('name of a secret', 12).toString('base64url'),
    wrap: (name, plain) => encrypt(key, plain, name),
    unwrap: (name, wrapped) => decrypt(key, wrapped, name),
  };
}
