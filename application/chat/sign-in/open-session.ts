/** Opens a session for an authenticated email: finds or creates the user. */

import { badEmail } from '../../../domain/chat/roster.js';
import { isEmail, isRejection, rejection, tidyEmail } from '../../../domain/shared/index.js';
import { type CommandOutcome, nextContext } from '../../command/index.js';
import type { CommandContext } from '../../ports/index.js';
import type { Join } from '../people/users.js';
import type { ChatPorts, SignedIn } from './authenticate.js';
import type { Links } from './links.js';
import type { Sessions, SignInOrigin } from './sessions.js';

export interface SignInPorts extends Pick<ChatPorts, 'admission' | 'derivation'> {
  readonly join: Join;
  readonly sessions: Sessions;
  readonly links: Links;
  readonly isInviteRequired: boolean;
}

/** No user has this email, and only admins add users. */
export const notInvited = rejection(
  'chat/not-invited',
  'unauthenticated',
  'Nobody with this email is a member here; ask an admin to add you',
);

export type SignIn = ReturnType<typeof createSignIn>;

export function createSignIn(ports: SignInPorts) {
  const { admission, join, sessions, links, derivation, isInviteRequired } = ports;

  async function findOrCreateUser(email: string, context: CommandContext, userName?: string) {
    const known = await admission.user({ email });
    if (known) return known;
    if (isInviteRequired) return notInvited;
    if (!isEmail(email)) return badEmail;
    const result = await join({ how: 'sign-in', isAdmin: false, email, userName }, context);
    return isRejection(result) ? result : result.user;
  }

  /** Signs in a verified email. `userName` is used for a new user. */
  async function signInWithEmail(rawEmail: string, from: SignInOrigin, context: CommandContext, userName?: string) {
    const user = await findOrCreateUser(tidyEmail(rawEmail), context, userName);
    if (isRejection(user)) return user;
    const result = await sessions.open(user, from, nextContext(derivation, 'chat.open-session', context));
    return isRejection(result) ? result : { body: { ...result.body, user }, position: result.position };
  }

  /** Signs in by a link token, which is used up; `email`, if present, must match. */
  async function signInWithLink(
    token: string | undefined,
    email: string | undefined,
    from: SignInOrigin,
    context: CommandContext,
  ): CommandOutcome<SignedIn> {
    const link = await links.read(token, ['magic-link', 'invite'], email);
    if (isRejection(link)) return link;
    const spent = await links.spend(link, nextContext(derivation, 'chat.spend-link', context));
    if (isRejection(spent)) return spent;
    const user = await findOrCreateUser(link.email, context);
    if (isRejection(user)) return user;
    return sessions.open(user, from, nextContext(derivation, 'chat.open-session', context), { mailed: true });
  }

  return { signInWithEmail, signInWithLink };
}
