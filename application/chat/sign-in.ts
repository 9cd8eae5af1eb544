/** Signing in: who somebody is was found out by a mechanism, here it is decided whether they come in. */
import { isEmail, tidyEmail } from '../../domain/chat/names.js';
import { badEmail, type User } from '../../domain/chat/roster.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { CommandContext, Derivation } from '../ports.js';
import type { ChatAdmission } from './admission.js';
import type { People } from './people.js';
import type { Done, From, Sessions, SignedIn } from './sessions.js';

export interface SignInPorts {
  readonly admission: ChatAdmission;
  readonly come: People;
  readonly sessions: Sessions;
  readonly derivation: Derivation;
  readonly isInviteRequired: boolean;
}

export interface Entered extends SignedIn {
  readonly user: User;
}

/** Nobody of this email is there, and only admins add users. */
export const notInvited: Rejection = {
  rejected: 'chat/not-invited',
  kind: 'unauthenticated',
  detail: 'There is no such user, and an invite is required',
};

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn({ admission, come, sessions, derivation, isInviteRequired }: SignInPorts) {
  /** Whoever has this email: they are there, or are made one where everybody may come. */
  async function whoever(
    email: string,
    context: CommandContext,
    userName?: string,
  ): Promise<User | Rejection> {
    const known = await admission.user({ email });
    if (known) return known;
    if (isInviteRequired) return notInvited;
    if (!isEmail(email)) return badEmail;
    const name = userName === undefined ? {} : { userName };
    const intention = { type: 'AdmitUser' as const, email, isAdmin: false, how: 'sign-in' as const };
    const joined = await come({ ...intention, ...name }, context);
    return isRejection(joined) ? joined : joined.user;
  }

  /** Lets somebody in whose email is known to be theirs. `userName` is for a user who is made. */
  async function enter(
    given: string,
    from: From,
    context: CommandContext,
    userName?: string,
  ): Promise<Done<Entered> | Rejection> {
    const user = await whoever(tidyEmail(given), context, userName);
    if (isRejection(user)) return user;
    const done = await sessions.open(user, from, second(context));
    return isRejection(done) ? done : { body: { ...done.body, user }, position: done.position };
  }

  /** The session is opened by a command of its own. */
  const second = (context: CommandContext): CommandContext => ({
    ...context,
    commandId: derivation.id('chat.open-session', context.commandId),
  });

  return { whoever, enter };
}
