/** Passwords of meeting rooms: hashed once for all who give the same, by turns, and never for more than there is room for. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { createDerivation } from '../../../adapters/crypto/derivation.js';
import { createPasswordHashing } from '../../../adapters/crypto/scrypt.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';
import { createRoomPasswords } from '../../../application/meeting/room-passwords.js';
import type { PasswordHashing } from '../../../application/ports/identity.js';
import { UnavailableError } from '../../../application/ports/index.js';

const derivation = createDerivation(Buffer.alloc(32, 7));

/** The real one, and how often it has worked. */
function counted() {
  const real = createPasswordHashing();
  const times = { hash: 0, matches: 0 };
  const hashing: PasswordHashing = {
    hash(...given) {
      times.hash++;
      return real.hash(...given);
    },
    matches(...given) {
      times.matches++;
      return real.matches(...given);
    },
  };
  return { hashing, times };
}

const passwordsOf = (hashing: PasswordHashing, most = 40) =>
  createRoomPasswords({ hashing, derivation, budget: createBudget('passwords', most) });

describe('passwords of meeting rooms', () => {
  it('are known again by a node that never saw them, and kept in a form that does not tell them', async () => {
    const { hashing } = counted();
    const form = await passwordsOf(hashing).hash('open sesame', 'here');
    expect(form)
      .to.match(/^[\w-]+\.[\w-]+$/)
      .and.not.contain('sesame');
    const elsewhere = passwordsOf(hashing);
    expect(await elsewhere.matches('open sesam', form, 'here')).to.equal(false);
    expect(await elsewhere.matches('open sesame', form, 'here')).to.equal(true);
    expect(await elsewhere.matches('', form, 'here')).to.equal(false);
    expect(await elsewhere.matches('open sesame', await elsewhere.hash('other', 'here'), 'here')).to.equal(false);
  });

  it('cost one hash where a thousand come in with the same, at once and later, and nothing where it was made', async () => {
    const { hashing, times } = counted();
    const here = passwordsOf(hashing);
    const form = await here.hash('open sesame', 'maker');
    expect(await here.matches('open sesame', form, 'guest')).to.equal(true);
    expect(times).to.deep.equal({ hash: 1, matches: 0 });
    const elsewhere = passwordsOf(hashing);
    const storm = Array.from({ length: 1000 }, () => elsewhere.matches('open sesame', form, 'guest'));
    expect(new Set(await Promise.all(storm))).to.deep.equal(new Set([true]));
    expect(await elsewhere.matches('open sesame', form, 'late')).to.equal(true);
    // Where the right one is known, a wrong one costs nothing.
    expect(await elsewhere.matches('wrong', form, 'late')).to.equal(false);
    expect(times).to.deep.equal({ hash: 1, matches: 1 });
  });

  it('are of one caller two thirds at most of those that may wait', async () => {
    const held: (() => void)[] = [];
    const hashing: PasswordHashing = {
      hash: async () => ({ salt: 'c2FsdA', hash: 'aGFzaA' }),
      matches: () => new Promise((resolve) => held.push(() => resolve(false))),
    };
    const passwords = passwordsOf(hashing, 12);
    const guesses = Array.from({ length: 12 }, (_, n) => passwords.matches(`guess ${n}`, 'a.b', 'guesser'));
    for (const refused of guesses.slice(8)) expect(await rejection(refused)).to.be.instanceOf(UnavailableError);
    const other = passwords.matches('mine', 'a.b', 'other');
    for (const done of held) done();
    expect(await other).to.equal(false);
    for (const guess of guesses.slice(0, 8)) expect(await guess).to.equal(false);
  });

  it('are tried again when it was too much at first', async () => {
    let isAway = true;
    const { hashing } = counted();
    const passwords = passwordsOf({
      ...hashing,
      async matches(...given) {
        if (isAway) throw new UnavailableError('too much');
        return hashing.matches(...given);
      },
    });
    const form = await passwordsOf(hashing).hash('open sesame', 'here');
    expect(await rejection(passwords.matches('open sesame', form, 'here'))).to.be.instanceOf(UnavailableError);
    isAway = false;
    expect(await passwords.matches('open sesame', form, 'here')).to.equal(true);
  });
});
