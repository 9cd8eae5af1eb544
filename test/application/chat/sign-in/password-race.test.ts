/** Sessions opened while the password changes: sign-in takes time, and the new password must win. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import { sessionAggregate, sessionStream } from '../../../../application/chat/aggregates.js';
import { createJoin } from '../../../../application/chat/people/users.js';
import {
  createAuthentication,
  createTokens,
  type SignedIn,
} from '../../../../application/chat/sign-in/authenticate.js';
import { createPasswordSignIn, createPasswords } from '../../../../application/chat/sign-in/passwords.js';
import { createSessions, departureReaction } from '../../../../application/chat/sign-in/sessions.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import { userStream } from '../../../../domain/chat/password.js';
import { isRejection, type Rejection } from '../../../../domain/shared/decider.js';
import { activeSessions } from '../../../../domain/shared/sessions.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const from = { ip: '192.0.2.1', network: '192.0.2.1', userAgent: 'a browser' };
const email = 'ada@example.org';
/** A permanent admin. */
const ADMIN = 'an admin';

/**
 * Ada with the password `first`. The function given to `during` runs between checking a password and opening the
 * session.
 */
async function startAda() {
  let now = Date.now();
  /** Every call returns a new millisecond. */
  const clock = { now: () => now++ };
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const derivation = createDerivation(randomBytes(32));
  const tokens = createTokens({
    signed: createSignedTokens(randomBytes(32)),
    derivation,
    clock,
    jwtExpirySeconds: 900,
  });
  const admission = createAuthentication({ ...kernel, tokens, clock, feedPosition: () => 0n });
  const ports = { ...kernel, derivation, tokens, admission, clock };
  const opening = createSessions({
    ...ports,
    refreshTokenExpirySeconds: 3600,
    maxActiveSessions: 3,
    sessionQuota: () => ({ spend: async () => undefined, refund: async () => {} }),
  });
  let meanwhile = async () => {};
  const sessions = {
    ...opening,
    open: async (...args: Parameters<typeof opening.open>) => {
      const once = meanwhile;
      meanwhile = async () => {};
      await once();
      return opening.open(...args);
    },
  };
  const passwords = createPasswords({
    ...ports,
    hashing: {
      hash: async (hash) => ({ salt: 'salt', hash }),
      matches: async (password, stored) => password === stored?.hash,
    },
  });
  const user: typeof admission.user = async (by) =>
    'id' in by && by.id === ADMIN ? ({ id: ADMIN, isAdmin: true } as never) : admission.user(by);
  const signIn = createPasswordSignIn({
    ...ports,
    admission: { ...admission, user },
    join: createJoin(ports),
    sessions,
    passwords,
    links: {
      read: async () => ({ email }),
      spend: async () => undefined,
    } as never,
    audit: { note: async () => {} } as never,
  });
  const bodyOf = (outcome: { readonly body: SignedIn } | Rejection) => {
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    return outcome.body;
  };
  const command = () => context(randomUUID());
  bodyOf(await signIn.register({ email, password: 'password one' }, from, command()));
  const { id } = (await admission.user({ email }))!;
  return {
    during: (what: () => Promise<unknown>) => {
      meanwhile = async () => void (await what());
    },
    login: (password: string) => signIn.login({ email, password }, from, command()).then(bodyOf),
    setup: (password: string) => signIn.setup({ password, token: 'a link' }, from, command()).then(bodyOf),
    reset: (password: string) => signIn.reset(id, password, ADMIN, command()),
    /** Sets the password without the steps that follow, as a killed node does. */
    setOnly: (password: string) => passwords.set(id, { salt: 'salt', hash: password }, { by: id }, command()),
    async follow() {
      const { on } = departureReaction(ports);
      const events = await kernel.log.read(userStream(id), { from: 0, limit: 100 });
      for (const event of events as readonly RecordedEvent[]) await on.PasswordSet?.(event as never);
    },
    isIn: async ({ accessToken }: SignedIn) => !isRejection(await admission.authenticate(accessToken)),
    live: async () =>
      activeSessions((await kernel.aggregates.reload(sessionAggregate, sessionStream(id))).state, Date.now()).length,
  };
}

describe('a session opened while its password changes', () => {
  it('ends if an admin reset the password', async () => {
    const ada = await startAda();
    ada.during(() => ada.reset('password two'));
    await ada.login('password one');
    expect(await ada.live()).to.equal(0);
    await ada.login('password two');
    expect(await ada.live()).to.equal(1);
  });

  it('ends if the password was set by a link, whose own session continues', async () => {
    const ada = await startAda();
    let ownSession: SignedIn | undefined;
    ada.during(async () => {
      ownSession = await ada.setup('password two');
    });
    const thief = await ada.login('password one');
    expect(await ada.live()).to.equal(1);
    expect(await Promise.all([ada.isIn(ownSession!), ada.isIn(thief)])).to.deep.equal([true, false]);
  });

  it('is ended by the reaction if the node crashed after setting the password', async () => {
    const ada = await startAda();
    await ada.login('password one');
    await ada.setOnly('password two');
    await ada.follow();
    expect(await ada.live()).to.equal(0);
    await ada.login('password two');
    await ada.follow();
    expect(await ada.live()).to.equal(1);
  });

  it('ends if it was opened by a link before an admin reset the password', async () => {
    const ada = await startAda();
    ada.during(() => ada.reset('password two'));
    await ada.setup('password one again');
    expect(await ada.live()).to.equal(0);
  });
});
