/** Passwords: stored, used to sign in and to register, and set by link or by an admin. */

import { userSubject } from '../../../domain/chat/events/roster.js';
import { badPassword, isPassword, userStream } from '../../../domain/chat/password.js';
import { badEmail, notAdmin, type User } from '../../../domain/chat/roster.js';
import { badLinkOf, isEmail, isRejection, type Rejection, rejection, tidyEmail } from '../../../domain/shared/index.js';
import { type CommandOutcome, type KernelPorts, nextContext, resultOf } from '../../command/index.js';
import { createRateLimiters, createSlidingWindow } from '../../concurrency/index.js';
import type { CommandContext, Hashed, PasswordHashing, Position } from '../../ports/index.js';
import type { Audit } from '../admin/audit-log.js';
import { passwordAggregate } from '../aggregates.js';
import type { Join } from '../people/users.js';
import type { ChatPorts, SignedIn } from './authenticate.js';
import type { Links } from './links.js';
import type { Sessions, SignInOrigin } from './sessions.js';

export interface PasswordPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'vault' | 'clock'> {
  readonly hashing: PasswordHashing;
}

export interface PasswordVersion {
  readonly setAt: Position;
}

export type Passwords = ReturnType<typeof createPasswords>;

export function createPasswords({ handle, aggregates, vault, hashing, clock }: PasswordPorts) {
  const loadCurrent = (userId: string) => aggregates.reload(passwordAggregate, userStream(userId));

  return {
    hash: async (password: string): Promise<Hashed | Rejection> =>
      isPassword(password) ? hashing.hash(password) : badPassword,

    /** `isFirst`: keeps an existing password. */
    async set(
      userId: string,
      hashed: Hashed,
      { by, isFirst = false }: { readonly by: string; readonly isFirst?: boolean },
      context: CommandContext,
    ): Promise<PasswordVersion | Rejection> {
      const command = { type: 'SetPassword' as const, userId, by, ...hashed, isFirst, now: clock.now() };
      const createKey = () => vault.create(userSubject({ userId }));
      const outcome = await handle(passwordAggregate, userStream(userId), command, context, createKey);
      return isRejection(outcome) ? outcome : { setAt: outcome.position };
    },

    isSet: async (userId: string): Promise<boolean> => (await loadCurrent(userId)).state !== undefined,

    /** Verifies a password. Takes the same time for unknown users: their lookup also reads the log. */
    async verify(userId: string | undefined, password: string): Promise<PasswordVersion | undefined> {
      const known = userId === undefined ? undefined : await loadCurrent(userId);
      const isRight = await hashing.matches(password, known?.state);
      return known && isRight ? { setAt: known.position } : undefined;
    },

    isCurrent: async (userId: string, { setAt }: PasswordVersion): Promise<boolean> =>
      (await loadCurrent(userId)).position === setAt,
  };
}

export interface PasswordSignInPorts extends Pick<ChatPorts, 'derivation' | 'clock' | 'admission'> {
  readonly join: Join;
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly links: Links;
  readonly audit: Pick<Audit, 'note'>;
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

export interface Setup {
  readonly password: string;
  readonly token: string | undefined;
  readonly email?: string | undefined;
}

/** The same for a wrong password, an unknown email and a user without a password. */
const wrongCredentials = rejection('chat/wrong-credentials', 'unauthenticated', 'Email or password is wrong');

const tooManyFailures = (retryAfterMs: number): Rejection => ({
  rejected: 'chat/too-many-failures',
  kind: 'limit',
  detail: 'Too many failed sign-ins; try again later',
  retryAfterMs,
});

/**
 * Failed sign-ins until a pause. Low per network and email; high per email, or anyone could lock a user out from
 * elsewhere with a few wrong passwords.
 */
const LIMITS = { email: 1000, network: 50, 'email-and-network': 10 } as const;
const FAILURES_MS = 15 * 60_000;

const limitFailures = (limit: number) => createRateLimiters(() => createSlidingWindow(limit, FAILURES_MS));

/** A token in a form is an invalid field, not failed authentication. */
const badToken: Rejection = { ...badLinkOf('chat'), kind: 'invalid' };

export type PasswordSignIn = ReturnType<typeof createPasswordSignIn>;

export function createPasswordSignIn(ports: PasswordSignInPorts) {
  const { admission, join, sessions, passwords, links, derivation, clock, audit } = ports;
  const failureLimits = Object.entries(LIMITS).map(([limit, most]) => ({
    limit: limit as keyof typeof LIMITS,
    limiterOf: limitFailures(most),
  }));
  /** Audits each reached limit once per window. */
  const auditLimit = limitFailures(1);

  /**
   * Sign-in is slow. A session opened while the password changes is not among those the change ends, so it is checked
   * again afterwards.
   */
  const recheck =
    ({ id }: Pick<User, 'id'>, version: PasswordVersion) =>
    () =>
      passwords.isCurrent(id, version);

  async function login(
    { email: rawEmail, password }: Credentials,
    from: SignInOrigin,
    context: CommandContext,
  ): CommandOutcome<SignedIn> {
    const email = tidyEmail(rawEmail);
    const addressId = derivation.id('chat.failures', email);
    const keys = { email: addressId, network: from.network, 'email-and-network': `${addressId} ${from.network}` };
    const failures = failureLimits.map(({ limit, limiterOf }) => ({
      limit,
      limiter: limiterOf(keys[limit]),
      auditLimiter: auditLimit(`${limit} ${keys[limit]}`),
    }));
    const checkFailures = () => {
      const waitMs = Math.max(...failures.map(({ limiter }) => limiter.wait()));
      return waitMs > 0 ? tooManyFailures(waitMs) : undefined;
    };
    const refusedBefore = checkFailures();
    if (refusedBefore) return refusedBefore;
    const user = await admission.user({ email });
    const version = await passwords.verify(user?.id, password);
    // Checked again: concurrent guesses must not get more answers than sequential ones.
    const refusedAfter = checkFailures();
    if (refusedAfter) return refusedAfter;
    if (user && version) return sessions.open(user, from, context, { recheck: recheck(user, version) });
    for (const { limiter } of failures) limiter.consume();
    const reached = failures.find(({ limiter, auditLimiter }) => limiter.wait() > 0 && auditLimiter.wait() === 0);
    if (reached) {
      reached.auditLimiter.consume();
      const about = { addressId, limit: reached.limit, reachedAt: clock.now() };
      const data = { ...about, ...(user && { userId: user.id }) };
      await audit.note({ type: 'SignInLimitReached', data }, nextContext(derivation, 'chat.limit-reached', context));
    }
    return wrongCredentials;
  }

  async function register(
    { email: rawEmail, password }: Credentials,
    from: SignInOrigin,
    context: CommandContext,
  ): CommandOutcome<SignedIn> {
    const email = tidyEmail(rawEmail);
    if (!isEmail(email)) return badEmail;
    const hashed = await passwords.hash(password);
    if (isRejection(hashed)) return hashed;
    const next = nextContext(derivation, 'chat.set-password', context);
    const setInitialPassword = (userId: string) => passwords.set(userId, hashed, { by: userId }, next);
    const result = await join({ how: 'register', isAdmin: false, email }, context, setInitialPassword);
    if (isRejection(result)) return result;
    return sessions.open(result.user, from, nextContext(derivation, 'chat.open-session', context));
  }

  /** By an invite or reset link; ends all other sessions. */
  async function setup(
    { password, token, email }: Setup,
    from: SignInOrigin,
    context: CommandContext,
  ): CommandOutcome<SignedIn> {
    const link = await links.read(token, ['invite', 'reset'], email);
    if (isRejection(link)) return badToken;
    const user = await admission.user({ email: link.email });
    if (!user) return badToken;
    const hashed = await passwords.hash(password);
    if (isRejection(hashed)) return hashed;
    const spent = await links.spend(link, nextContext(derivation, 'chat.spend-link', context));
    if (isRejection(spent)) return spent.kind === 'unauthenticated' ? badToken : spent;
    const set = await passwords.set(
      user.id,
      hashed,
      { by: user.id },
      nextContext(derivation, 'chat.set-password', context),
    );
    if (isRejection(set)) return set;
    return sessions.open(user, from, context, { alone: true, mailed: true, recheck: recheck(user, set) });
  }

  /** By an admin; ends all sessions of the user. */
  async function reset(userId: string, password: string, by: string, context: CommandContext): CommandOutcome<object> {
    const hashed = await passwords.hash(password);
    if (isRejection(hashed)) return hashed;
    // Hashing may wait, and the caller may no longer be an admin.
    if (!(await admission.user({ id: by }))?.isAdmin) return notAdmin;
    const set = await passwords.set(userId, hashed, { by }, nextContext(derivation, 'chat.set-password', context));
    if (isRejection(set)) return set;
    return resultOf(await sessions.endAll(userId, context), { success: true });
  }

  return { login, register, setup, reset };
}
