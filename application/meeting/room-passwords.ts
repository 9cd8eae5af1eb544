/** Passwords of meeting rooms: each is hashed once, however many people come in with it. */
import { LRUCache } from 'lru-cache';
import type { Budget } from '../concurrency/index.js';
import { type Derivation, type Hashed, type PasswordHashing, UnavailableError } from '../ports/index.js';

export interface RoomPasswordPorts {
  readonly hashing: PasswordHashing;
  readonly derivation: Derivation;
  /** Hashes that are under way or wait; of one caller some only. */
  readonly budget: Budget;
}

/** `caller` tells networks apart. Both reject with `Unavailable` when too many are to be hashed at once. */
export interface RoomPasswords {
  /** The form in which it stands in the log. */
  hash(password: string, caller: string): Promise<string>;
  /** Whether it is the one that has this form. */
  matches(password: string, form: string, caller: string): Promise<boolean>;
}

/** Rooms whose right password is known; two short texts each. */
const MAX_CACHED = 10_000;

export function createRoomPasswords({ hashing, derivation, budget }: RoomPasswordPorts): RoomPasswords {
  /** By form, the digest of the password that is right: without the installation's key it tells nothing. */
  const verifiedDigests = new LRUCache<string, string>({ max: MAX_CACHED });
  const inFlight = new Map<string, Promise<boolean>>();
  const digestOf = (password: string, form: string) =>
    derivation.id('meeting.password', form, password.normalize('NFC'));

  /** In turn with other callers, and with what else is hashed. */
  async function withBudget<Result>(caller: string, work: (tenant: string) => Promise<Result>): Promise<Result> {
    const reservation = budget.reserve(caller);
    if (reservation.acquire(1)) throw new UnavailableError('too many passwords of meeting rooms are to be hashed');
    return work(`meeting ${caller}`).finally(reservation.release);
  }

  async function compare(password: string, form: string, digest: string, caller: string) {
    const isRight = await withBudget(caller, (tenant) => hashing.matches(password, hashedOf(form), tenant));
    if (isRight) verifiedDigests.set(form, digest);
    return isRight;
  }

  return {
    async hash(password, caller) {
      const form = formOf(await withBudget(caller, (tenant) => hashing.hash(password, tenant)));
      verifiedDigests.set(form, digestOf(password, form));
      return form;
    },

    matches(password, form, caller) {
      const digest = digestOf(password, form);
      const verified = verifiedDigests.get(form);
      // Two passwords have no hash in common.
      if (verified !== undefined) return Promise.resolve(verified === digest);
      const pending = inFlight.get(digest);
      if (pending) return pending;
      const comparison = compare(password, form, digest, caller).finally(() => inFlight.delete(digest));
      inFlight.set(digest, comparison);
      return comparison;
    },
  };
}

const formOf = ({ salt, hash }: Hashed): string => `${salt}.${hash}`;

function hashedOf(form: string): Hashed {
  const [salt = '', hash = ''] = form.split('.');
  return { salt, hash };
}
