/** Adds users on behalf of an admin, with a password or an emailed invite. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isRejection, tidyEmail } from '../../../domain/shared/index.js';
import type { CommandContext, Derivation, RecordedEvent } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import type { Outcome } from '../command-result.js';
import type { Authentication } from '../sign-in/authenticate.js';
import type { Links } from '../sign-in/links.js';
import type { Passwords } from '../sign-in/password-store.js';
import type { Join } from './join.js';

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
  async ({ email, role, password }: UserInput, by: string, context: CommandContext): Outcome<object> => {
    const hashed = password === undefined ? undefined : await passwords.hash(password);
    if (hashed && isRejection(hashed)) return hashed;
    const passwordContext = { ...context, commandId: derivation.id('chat.set-password', context.commandId) };
    const setInitialPassword = async (userId: string) => {
      if (!hashed || !takesPasswords) return undefined;
      const set = await passwords.set(userId, hashed, { by }, passwordContext);
      return isRejection(set) ? set : undefined;
    };
    const intention = { type: 'AddUser' as const, email: tidyEmail(email), isAdmin: role === 'admin', by };
    const result = await join(intention, context, setInitialPassword);
    if (isRejection(result)) return result;
    const body = { success: true, userId: result.user.id };
    const cannotSignIn = takesPasswords && !hashed && !hasEmail;
    return { body: cannotSignIn ? { ...body, message: NOT_INVITED } : body, position: result.position };
  };

export type AddUser = ReturnType<typeof createAddUser>;

export interface InvitePorts {
  readonly admission: Authentication;
  readonly passwords: Passwords;
  readonly links: Links;
  readonly derivation: Derivation;
}

type UserAdded = ChatEvent<'UserAdded'>;

/** Sends an invite to users added without a password, if mail is configured. */
export function inviteReaction({ admission, passwords, links, derivation }: InvitePorts): Reaction<UserAdded> {
  async function invite(event: RecordedEvent<UserAdded>) {
    const { data } = event;
    if (data.how !== 'admin' || (await passwords.isSet(data.userId))) return;
    const user = await admission.user({ id: data.userId });
    if (!user) return;
    const outcome = await links.request('invite', user.email, causedBy(derivation, 'chat.invite', event));
    if (isRejection(outcome)) throw new Error(outcome.rejected);
  }
  return { name: 'chat.invite', on: { UserAdded: invite } };
}
