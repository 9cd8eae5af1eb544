/** Creates the initial admin at start, unless a user with that email exists. */
import type { User } from '../../../domain/chat/roster.js';
import { isRejection, tidyEmail } from '../../../domain/shared/index.js';
import type { CommandContext } from '../../ports/index.js';
import type { Passwords } from '../sign-in/password-store.js';
import type { Join } from './join.js';

export interface InitialUser {
  readonly email: string;
  readonly userName: string;
  readonly password: string | undefined;
}

/**
 * Safe on several nodes concurrently: optimistic concurrency lets only one create
 * the user and set the password. An existing password stays.
 */
export async function createInitialAdmin(
  { join, passwords }: { readonly join: Join; readonly passwords: Passwords },
  { email, userName, password }: InitialUser,
  context: CommandContext,
): Promise<User> {
  const admin = { type: 'AdmitUser' as const, isAdmin: true, how: 'initial' as const };
  const { user } = orThrow(await join({ ...admin, email: tidyEmail(email), userName }, context));
  if (password === undefined || (await passwords.isSet(user.id))) return user;
  const hashed = orThrow(await passwords.hash(password));
  orThrow(await passwords.set(user.id, hashed, { by: 'chat.start', isFirst: true }, context));
  return user;
}

function orThrow<Outcome>(outcome: Outcome): Exclude<Outcome, { readonly rejected: string }> {
  if (isRejection(outcome)) throw new Error(`initial admin was rejected: ${outcome.rejected}`);
  return outcome as Exclude<Outcome, { readonly rejected: string }>;
}
