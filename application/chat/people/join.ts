/** Adds users: by configuration, by an admin, by registration, or at the first sign-in. */

import { userSubject } from '../../../domain/chat/events/roster.js';
import { ROSTER, type RosterCommand, type User, userByEmail, userById } from '../../../domain/chat/roster.js';
import { isRejection, type Rejection, tidyEmail } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, Position, Vault } from '../../ports/index.js';
import { rosterAggregate } from '../aggregates.js';
import type { Passwords } from '../sign-in/password-store.js';

export interface PeoplePorts extends Pick<KernelPorts, 'handle' | 'derivation' | 'clock'> {
  readonly vault: Pick<Vault, 'create'>;
}

export interface JoinResult {
  readonly user: User;
  readonly isNew: boolean;
  readonly position: Position;
}

type JoinCommand = Extract<RosterCommand, { type: 'AdmitUser' | 'RegisterUser' | 'AddUser' }>;
type JoinRequest = JoinCommand extends infer Each
  ? Each extends JoinCommand
    ? Omit<Each, 'userId' | 'userName' | 'now'>
    : never
  : never;

export type Join = ReturnType<typeof createJoin>;

export function createJoin({ handle, vault, derivation, clock }: PeoplePorts) {
  /**
   * Takes a normalized email; without a name it is derived from the email. `prepare` runs once, before the user is
   * added, to create prerequisites; it may refuse.
   */
  return async function joinChat(
    intention: JoinRequest & { readonly userName?: string },
    context: CommandContext,
    prepare?: (userId: string) => Promise<Rejection | undefined>,
  ): Promise<JoinResult | Rejection> {
    const { email } = intention;
    const userId = derivation.id('chat.user', context.commandId);
    // The key must exist before the event can be sealed.
    const beforeAppend = async () => {
      await vault.create(userSubject({ userId }));
      return prepare?.(userId);
    };
    const userName = intention.userName ?? email.slice(0, email.indexOf('@'));
    const command = { ...intention, userId, userName, now: clock.now() } as JoinCommand;
    const outcome = await handle(rosterAggregate, ROSTER, command, context, beforeAppend);
    if (isRejection(outcome)) return outcome;
    const [added] = outcome.events;
    const state = await outcome.state();
    // By id for a repetition, as the user's email may have been erased since.
    const user = added ? userById(state, added.data.userId) : userByEmail(state, email);
    if (!user) throw new Error('added user is missing from the state');
    return { user, isNew: user.id === userId, position: outcome.position };
  };
}

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
