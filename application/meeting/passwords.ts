/** Passwords of meeting rooms: what is kept of them, and whether one is right. */
import { LRUCache } from 'lru-cache';
import type { Hashed, PasswordHashing } from '../identity-ports.js';
import type { Derivation } from '../ports.js';

/** The form in which a password stands in the log. */
export const hashText = ({ salt, hash }: Hashed): string => `${salt}.${hash}`;

/** Longer ones are none: nobody can have set one. */
export const PASSWORD_LENGTH = 50;

/** Of rooms in which people arrive just now. */
const REMEMBERED = 1000;

export interface RoomPasswordPorts {
  readonly hashing: PasswordHashing;
  readonly derivation: Pick<Derivation, 'id'>;
}

export type RoomPasswords = ReturnType<typeof createRoomPasswords>;

/** Both reject with `Unavailable` when too many ask at once. */
export function createRoomPasswords({ hashing, derivation }: RoomPasswordPorts) {
  /** By digests that nobody else can make: that one was right need not be found out for each of those who bring it. */
  const right = new LRUCache<string, Promise<boolean>>({ max: REMEMBERED });

  async function compare(password: string, kept: string): Promise<boolean> {
    const [salt = '', hash = ''] = kept.split('.');
    return hashing.matches(password, { salt, hash });
  }

  return {
    hash: async (password: string): Promise<string> => hashText(await hashing.hash(password)),

    /** `kept`: as it stands in the log. */
    matches(password: string, kept: string): Promise<boolean> {
      const name = derivation.id('meeting.password', kept, password);
      const known = right.get(name);
      if (known) return known;
      const found = compare(password, kept);
      right.set(name, found);
      const forget = () => void right.delete(name);
      found.then((isRight) => isRight || forget(), forget);
      return found;
    },
  };
}
