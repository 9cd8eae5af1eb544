/** Setting somebody's password as an admin, who may be none any more once it is hashed. */
import { expect } from 'chai';
import { createPasswordSignIn } from '../../../../application/chat/sign-in/password-sign-in.js';
import { notAdmin } from '../../../../domain/chat/roster.js';
import { context } from '../../../support/toy-service.js';

describe('the password of somebody', () => {
  /** What becomes of it where `by` is that, or nobody, once it is hashed. */
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

  it('is set by an admin', async () => {
    expect(await reset({ isAdmin: true })).to.deep.equal({
      done: { body: { success: true }, position: 1n },
      set: ['bob'],
    });
  });

  it('is not set by who is none any more when their turn to have it hashed has come, or is gone', async () => {
    for (const by of [{ isAdmin: false }, undefined])
      expect(await reset(by)).to.deep.equal({ done: notAdmin, set: [] });
  });
});
