/** Hashes and verifies room passwords; caches verified ones so that each is hashed once. */
import { LRUCache } from 'lru-cache';
import { type Budget, createSingleFlight } from '../concurrency/index.js';
import { type Derivation, type Hashed, type PasswordHashing, UnavailableError } from '../ports/index.js';

export interface RoomPasswordPorts {
  readonly hashing: PasswordHashing;
  readonly derivation: Derivation;
  /** Limits running and queued hashes, per caller and in total. */
  readonly budget: Budget;
}

/** Maximum cached verified passwords; two short strings each. */
const MAX_CACHED = 10_000;

export type RoomPasswords = ReturnType<typeof createRoomPasswords>;

/**
 * Hashes and verifies passwords. `caller` identifies the network. Both methods throw `UnavailableError` if too many
 * hashes are queued.
 */
export function createRoomPasswords({ hashing, derivation, budget }: RoomPasswordPorts) {
  /** Digest of the verified password by stored hash; useless to an attacker without the installation's key. */
  const verifiedDigests = new LRUCache<string, string>({ max: MAX_CACHED });
  const singleFlight = createSingleFlight();
  const digestOf = (password: string, form: string) =>
    derivation.id('meeting.password', form, password.normalize('NFC'));

  /** Runs a hash within the caller's budget. */
  async function withBudget<Result>(caller: string, work: (tenant: string) => Promise<Result>): Promise<Result> {
    const reservation = budget.reserve(caller);
    if (reservation.acquire(1)) throw new UnavailableError('too many room passwords are waiting to be hashed');
    return work(`meeting ${caller}`).finally(reservation.release);
  }

  async function compare(password: string, form: string, digest: string, caller: string) {
    const isRight = await withBudget(caller, (tenant) => hashing.matches(password, hashedOf(form), tenant));
    if (isRight) verifiedDigests.set(form, digest);
    return isRight;
  }

  return {
    /** Returns the salted hash as stored in the event. */
    async hash(password: string, caller: string): Promise<string> {
      const form = formOf(await withBudget(caller, (tenant) => hashing.hash(password, tenant)));
      verifiedDigests.set(form, digestOf(password, form));
      return form;
    },

    /** Whether the password matches the stored hash. */
    matches(password: string, form: string, caller: string): Promise<boolean> {
      const digest = digestOf(password, form);
      const verified = verifiedDigests.get(form);
      // Another digest means a wrong password: no two passwords share a salted hash.
      if (verified !== undefined) return Promise.resolve(verified === digest);
      return singleFlight(digest, () => compare(password, form, digest, caller));
    },
  };
}

const formOf = ({ salt, hash }: Hashed): string => `${salt}.${hash}`;

function hashedOf(form: string): Hashed {
  const [salt = '', hash = ''] = form.split('.');
  return { salt, hash };
}
