/** Hashes passwords with scrypt off the event loop: a few jobs at a time, with a bounded queue. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createFairSemaphore } from '../../application/concurrency/index.js';
import type { Hashed, PasswordHashing } from '../../application/ports/index.js';

const SALT_BYTES = 16;
const KEY_BYTES = 64;
/** Concurrent jobs: leaves one core to everything else, and two threads of Node's pool. */
const CONCURRENCY = Math.max(1, Math.min(2, availableParallelism() - 1));
/** Queue limit: done within a few seconds, and more than anonymous callers may start at a time. */
const MAX_WAITING = 64;

const derive = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key));
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, done);
  });

export function createPasswordHashing(): PasswordHashing {
  const runLimited = createFairSemaphore('a password', CONCURRENCY, MAX_WAITING);
  /** A hash that no password matches, so that unknown users take as long as known ones. */
  const unmatchable: Hashed = {
    salt: randomBytes(SALT_BYTES).toString('base64url'),
    hash: randomBytes(KEY_BYTES).toString('base64url'),
  };
  return {
    async hash(password, tenant) {
      const salt = randomBytes(SALT_BYTES);
      const key = await runLimited(() => derive(password, salt), tenant);
      return { salt: salt.toString('base64url'), hash: key.toString('base64url') };
    },
    async matches(password, hashed, tenant) {
      const { salt, hash } = hashed ?? unmatchable;
      const key = await runLimited(() => derive(password, Buffer.from(salt, 'base64url')), tenant);
      const expected = Buffer.from(hash, 'base64url');
      return timingSafeEqual(key, expected) && hashed !== undefined;
    },
  };
}
