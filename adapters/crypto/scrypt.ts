/** Passwords by scrypt, off the event loop: a few at once, and no more waiting than can be answered in time. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { createFairSemaphore } from '../../application/concurrency/index.js';
import type { Hashed, PasswordHashing } from '../../application/ports/index.js';

const SALT_BYTES = 16;
const KEY_BYTES = 64;
/** One core at least is left to all else, and of the threads that node has for such work, two. */
const AT_ONCE = Math.max(1, Math.min(2, availableParallelism() - 1));
/** As many as are done within a few seconds, and more than strangers may ask for at a time. */
const WAITING = 64;

const derive = (password: string, salt: Buffer) =>
  new Promise<Buffer>((resolve, reject) => {
    const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key));
    scrypt(password.normalize('NFC'), salt, KEY_BYTES, done);
  });

export function createPasswordHashing(): PasswordHashing {
  const inTurn = createFairSemaphore('a password', AT_ONCE, WAITING);
  /** That nothing matches. */
  const nothing: Hashed = {
    salt: randomBytes(SALT_BYTES).toString('base64url'),
    hash: randomBytes(KEY_BYTES).toString('base64url'),
  };
  return {
    async hash(password, whose) {
      const salt = randomBytes(SALT_BYTES);
      const key = await inTurn(() => derive(password, salt), whose);
      return { salt: salt.toString('base64url'), hash: key.toString('base64url') };
    },
    async matches(password, hashed, whose) {
      const { salt, hash } = hashed ?? nothing;
      const key = await inTurn(() => derive(password, Buffer.from(salt, 'base64url')), whose);
      const expected = Buffer.from(hash, 'base64url');
      return timingSafeEqual(key, expected) && hashed !== undefined;
    },
  };
}
