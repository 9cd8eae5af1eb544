/** Adds users: the initial admin, and others on behalf of an admin, with a password or an emailed invite. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import type { User } from '../../../domain/chat/roster.js';
import { isRejection, tidyEmail } from '../../../domain/shared/index.js';
import { type CommandOutcome, nextContext } from '../../command/index.js';
import type { CommandContext, Derivation, RecordedEvent } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import type { ChatPorts } from '../sign-in/authenticate.js';
import type { Links } from '../sign-in/links.js';
import type { Passwords } from '../sign-in/passwords.js';
import type { Join } from './users.js';

export interface InitialUser {
  readonly email: string;
  readonly userName: string;
  readonly password: string | undefined;
}

/**
 * Creates the initial admin at start, unless a user with that email exists. Safe on several nodes at once: optimistic
 * concurrency lets only one create the user and set the password. An existing password stays.
 */
export async function createInitialAdmin(
  { join, passwords }: { readonly join: Join; readonly passwords: Passwords },
  { email, userName, password }: InitialUser,
  context: CommandContext,
): Promise<User> {
  const admin = { how: 'initial', isAdmin: true, email: tidyEmail(email), userName } as const;
  const { user } = orThrow(await join(admin, context));
  if (password === undefined || (await passwords.isSet(user.id))) return user;
  const hashed = orThrow(await passwords.hash(password));
  orThrow(await passwords.set(user.id, hashed, { by: 'chat.start', isFirst: true }, context));
  return user;
}

function orThrow<Outcome>(outcome: Outcome): Exclude<Outcome, { readonly rejected: string }> {
  if (isRejection(outcome)) throw new Error(`initial admin was rejected: ${outcome.rejected}`);
  return outcome as Exclude<Outcome, { readonly rejected: string }>;
}

export interface AddPorts {
  readonly join: Join;
  readonly passwords: Passwords;
  readonly derivation: Derivation;
  /** Whether people sign in with a password. */
  readonly takesPasswords: boolean;
  readonly hasEmail: boolean;
}

export interface UserInput {
  readonly email: string;
  readonly role: 'user' | 'admin';
  readonly password?: string;
}

const NOT_INVITED =
  'No invite was sent, because no mail server is configured (email.host): set a password for this user with POST /users/:id/reset-password';

export const createAddUser =
  ({ join, passwords, derivation, takesPasswords, hasEmail }: AddPorts) =>
  async ({ email, role, password }: UserInput, by: string, context: CommandContext): CommandOutcome<object> => {
    const hashed = password === undefined ? undefined : await passwords.hash(password);
    if (hashed && isRejection(hashed)) return hashed;
    const passwordContext = nextContext(derivation, 'chat.set-password', context);
    const setInitialPassword = async (userId: string) =>
      hashed && takesPasswords ? passwords.set(userId, hashed, { by }, passwordContext) : undefined;
    const newcomer = { how: 'admin', email: tidyEmail(email), isAdmin: role === 'admin', by } as const;
    const result = await join(newcomer, context, setInitialPassword);
    if (isRejection(result)) return result;
    const body = { success: true, userId: result.user.id };
    const cannotSignIn = takesPasswords && !hashed && !hasEmail;
    return { body: cannotSignIn ? { ...body, message: NOT_INVITED } : body, position: result.position };
  };

export type AddUser = ReturnType<typeof createAddUser>;

export interface InvitePorts extends Pick<ChatPorts, 'admission' | 'derivation' | 'logger'> {
  readonly passwords: Passwords;
  readonly links: Pick<Links, 'request'>;
}

const NOT_MAILED =
  'invite not mailed: too many links were requested for this address; request a link on the sign-in page in 15 minutes';

type UserAdded = ChatEvent<'UserAdded'>;

/** Sends an invite to users added without a password, if mail is configured. */
export function inviteReaction({ admission, passwords, links, derivation, logger }: InvitePorts): Reaction<UserAdded> {
  async function invite(event: RecordedEvent<UserAdded>) {
    const { data } = event;
    if (data.how !== 'admin' || (await passwords.isSet(data.userId))) return;
    const user = await admission.user({ id: data.userId });
    if (!user) return;
    const outcome = await links.request('invite', user.email, causedBy(derivation, 'chat.invite', event));
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    if (outcome.isLimited) logger.error({ userId: user.id }, NOT_MAILED);
  }
  return { name: 'chat.invite', on: { UserAdded: invite } };
}
