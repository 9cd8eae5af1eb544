/** An admin who loses the role while a password is hashed can no longer reset it. */
import { expect } from 'chai';
import { createPasswordSignIn } from '../../../../application/chat/sign-in/passwords.js';
import { notAdmin } from '../../../../domain/chat/roster.js';
import { context } from '../../../support/toy-service.js';

describe('a password reset by an admin', () => {
  /** Resets a password; `by` is the requester once hashing has finished. */
  async function reset(by: { readonly isAdmin: boolean } | undefined) {
    const set: string[] = [];
    let known: { readonly isAdmin: boolean } | undefined = { isAdmin: true };
    const passwords = {
      async hash() {
        known = by;
        return { hash: 'h', salt: 's' };
      },
      async set(userId: string) {
        set.push(userId);
        return { setAt: 1n };
      },
    };
    const sessions = { endAll: async () => ({ body: {}, position: 1n }) };
    const ports = {
      passwords,
      sessions,
      admission: { user: async () => known },
      derivation: { id: () => 'c' },
    };
    const done = await createPasswordSignIn(ports as never).reset('bob', 'a password', 'ada', context());
    return { done, set };
  }

  it('sets the password', async () => {
    expect(await reset({ isAdmin: true })).to.deep.equal({
      done: { body: { success: true }, position: 1n },
      set: ['bob'],
    });
  });

  it('is rejected if the requester is no longer an admin after hashing', async () => {
    for (const by of [{ isAdmin: false }, undefined])
      expect(await reset(by)).to.deep.equal({ done: notAdmin, set: [] });
  });
});
