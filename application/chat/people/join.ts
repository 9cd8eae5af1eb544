/** Who comes into the chat, and how: by the configuration, by an admin, by signing in for the first time. */
import { userSubject } from '../../../domain/chat/events/roster.js';
import { ROSTER, type RosterCommand, type User, userOf, userWith } from '../../../domain/chat/roster.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { HandleCommand } from '../../command/index.js';
import type { Clock, CommandContext, Derivation, Position, Vault } from '../../ports/index.js';
import { rosterAggregate } from '../aggregates.js';

export interface PeoplePorts {
  readonly handle: HandleCommand;
  readonly vault: Pick<Vault, 'create'>;
  readonly derivation: Derivation;
  readonly clock: Clock;
}

/** Somebody who is there now, and whether they came by this command. */
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

export type People = ReturnType<typeof createPeople>;

export function createPeople({ handle, vault, derivation, clock }: PeoplePorts) {
  /**
   * `intention.email` is tidy. Without a name one is made of the email. What must be there of somebody before they are,
   * `prepare` makes: it is asked once, when nothing stands against them.
   */
  return async function joinChat(
    intention: JoinRequest & { readonly userName?: string },
    context: CommandContext,
    prepare?: (userId: string) => Promise<Rejection | undefined>,
  ): Promise<JoinResult | Rejection> {
    const { email } = intention;
    const userId = derivation.id('chat.user', context.commandId);
    // Nothing of theirs can be sealed before there is a key.
    const before = async () => {
      await vault.create(userSubject({ userId }));
      return prepare?.(userId);
    };
    const userName = intention.userName ?? email.slice(0, email.indexOf('@'));
    const command = { ...intention, userId, userName, now: clock.now() } as JoinCommand;
    const outcome = await handle(rosterAggregate, ROSTER, command, context, before);
    if (isRejection(outcome)) return outcome;
    const [added] = outcome.events;
    const state = await outcome.state();
    // By the id where it is a repetition: they may be erased since, with their email.
    const user = added ? userWith(state, added.data.userId) : userOf(state, email);
    if (!user) throw new Error('somebody came, and is not there');
    return { user, isNew: user.id === userId, position: outcome.position };
  };
}
