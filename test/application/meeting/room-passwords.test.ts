/** Passwords of meeting rooms: hashed once for equal guesses, with a bound on pending hashes. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { createPasswordHashing } from '../../../adapters/crypto/scrypt.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { createRoomPasswords } from '../../../application/meeting/room-passwords.js';
import type { PasswordHashing } from '../../../application/ports/identity.js';
import { UnavailableError } from '../../../application/ports/index.js';

const derivation = createDerivation(Buffer.alloc(32, 7));

/** The real hashing, with a count of its calls. */
function countedHashing() {
  const real = createPasswordHashing();
  const times = { hash: 0, matches: 0 };
  const hashing: PasswordHashing = {
    hash(...args) {
      times.hash++;
      return real.hash(...args);
    },
    matches(...args) {
      times.matches++;
      return real.matches(...args);
    },
  };
  return { hashing, times };
}

const passwordsOf = (hashing: PasswordHashing, limit = 40) =>
  createRoomPasswords({ hashing, derivation, budget: createBudget('passwords', limit) });

describe('passwords of meeting rooms', () => {
  it('are verified by another node, and stored as a salted hash', async () => {
    const { hashing } = countedHashing();
    const form = await passwordsOf(hashing).hash('open sesame', 'here');
    expect(form)
      .to.match(/^[\w-]+\.[\w-]+$/)
      .and.not.contain('sesame');
    const otherNode = passwordsOf(hashing);
    expect(await otherNode.matches('open sesam', form, 'here')).to.equal(false);
    expect(await otherNode.matches('open sesame', form, 'here')).to.equal(true);
    expect(await otherNode.matches('', form, 'here')).to.equal(false);
    expect(await otherNode.matches('open sesame', await otherNode.hash('other', 'here'), 'here')).to.equal(false);
  });

  it('cost one hash for a thousand guests with the same password, and none on the node of the creator', async () => {
    const { hashing, times } = countedHashing();
    const firstNode = passwordsOf(hashing);
    const form = await firstNode.hash('open sesame', 'maker');
    expect(await firstNode.matches('open sesame', form, 'guest')).to.equal(true);
    expect(times).to.deep.equal({ hash: 1, matches: 0 });
    const otherNode = passwordsOf(hashing);
    const storm = Array.from({ length: 1000 }, () => otherNode.matches('open sesame', form, 'guest'));
    expect(new Set(await Promise.all(storm))).to.deep.equal(new Set([true]));
    expect(await otherNode.matches('open sesame', form, 'another guest')).to.equal(true);
    // A wrong password costs nothing once the right one is known.
    expect(await otherNode.matches('wrong', form, 'another guest')).to.equal(false);
    expect(times).to.deep.equal({ hash: 1, matches: 1 });
  });

  it('limit one caller to two thirds of the pending hashes', async () => {
    const pending: (() => void)[] = [];
    const hashing: PasswordHashing = {
      hash: async () => ({ salt: 'c2FsdA', hash: 'aGFzaA' }),
      matches: () => new Promise((resolve) => pending.push(() => resolve(false))),
    };
    const passwords = passwordsOf(hashing, 12);
    const guesses = Array.from({ length: 12 }, (_, n) => passwords.matches(`guess ${n}`, 'a.b', 'guesser'));
    for (const refused of guesses.slice(8)) expect(await rejection(refused)).to.be.instanceOf(UnavailableError);
    const other = passwords.matches('another guess', 'a.b', 'other');
    for (const done of pending) done();
    expect(await other).to.equal(false);
    for (const guess of guesses.slice(0, 8)) expect(await guess).to.equal(false);
  });

  it('can be tried again after an overload', async () => {
    let isAway = true;
    const { hashing } = countedHashing();
    const passwords = passwordsOf({
      ...hashing,
      async matches(...args) {
        if (isAway) throw new UnavailableError('overloaded');
        return hashing.matches(...args);
      },
    });
    const form = await passwordsOf(hashing).hash('open sesame', 'here');
    expect(await rejection(passwords.matches('open sesame', form, 'here'))).to.be.instanceOf(UnavailableError);
    isAway = false;
    expect(await passwords.matches('open sesame', form, 'here')).to.equal(true);
  });
});
