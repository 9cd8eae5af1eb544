/** Use cases on users: join, rename, change role, remove, leave, list. */

import { userSubject } from '../../../domain/chat/events/roster.js';
import {
  ROSTER,
  type RosterCommand,
  type RosterState,
  type User,
  userByEmail,
  userById,
} from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type CommandResult, type KernelPorts, resultOf } from '../../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../../concurrency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { rosterAggregate } from '../aggregates.js';
import type { ChatPorts } from '../sign-in/authenticate.js';

export type JoinPorts = Pick<KernelPorts, 'handle' | 'derivation' | 'clock' | 'vault'>;

/** A new user; without a name it is derived from the normalized email. */
export type Newcomer = Pick<Extract<RosterCommand, { type: 'AddUser' }>, 'how' | 'email' | 'isAdmin' | 'by'> & {
  readonly userName?: string | undefined;
};

export type Join = ReturnType<typeof createJoin>;

export const createJoin =
  ({ handle, vault, derivation, clock }: JoinPorts) =>
  /** `prepare` runs once, before the user is added, to create prerequisites; it may refuse. */
  async (newcomer: Newcomer, context: CommandContext, prepare?: (userId: string) => Promise<unknown>) => {
    const { email, userName = email.slice(0, email.indexOf('@')) } = newcomer;
    const userId = derivation.id('chat.user', context.commandId);
    // The key must exist before the event can be sealed.
    const beforeAppend = async () => {
      await vault.create(userSubject({ userId }));
      return prepare?.(userId);
    };
    const command = { type: 'AddUser' as const, ...newcomer, userId, userName, now: clock.now() };
    const outcome = await handle(rosterAggregate, ROSTER, command, context, beforeAppend);
    if (isRejection(outcome)) return outcome;
    const [added] = outcome.events;
    const state = await outcome.state();
    // By id for a repetition, as the user's email may have been erased since.
    const user = added ? userById(state, added.data.userId) : userByEmail(state, email);
    if (!user) throw new Error('added user is missing from the state');
    return { user, isNew: user.id === userId, position: outcome.position };
  };

export type UserView = Pick<User, 'id' | 'userName' | 'isAdmin' | 'createdAt'>;

export const userView = ({ id, userName, isAdmin, createdAt }: User): UserView => ({
  id,
  userName,
  isAdmin,
  createdAt,
});

export type UserPorts = Pick<ChatPorts, 'handle' | 'idempotency' | 'clock' | 'admission'>;

export type Users = ReturnType<typeof createUsers>;

export function createUsers({ handle, idempotency, admission, clock }: UserPorts) {
  const lists = new WeakMap<RosterState, Promise<readonly UserView[]>>();
  const run = (command: RosterCommand, context: CommandContext) => handle(rosterAggregate, ROSTER, command, context);

  const changeUser = async (
    command: Extract<RosterCommand, { type: 'RenameUser' | 'ChangeRole' }>,
    context: CommandContext,
  ) =>
    resultOf(await run(command, context), (state) => {
      const user = userById(state, command.userId);
      if (!user) throw new Error('changed user is missing from the state');
      return { user: userView(user) };
    });

  return {
    rename: (userId: string, userName: string, context: CommandContext) =>
      changeUser({ type: 'RenameUser', userId, userName, now: clock.now() }, context),

    changeRole: (userId: string, isAdmin: boolean, by: string, context: CommandContext) =>
      changeUser({ type: 'ChangeRole', userId, isAdmin, by, now: clock.now() }, context),

    remove: async (userId: string, by: string, context: CommandContext) =>
      resultOf(await run({ type: 'RemoveUser', userId, by, now: clock.now() }, context), REMOVED),

    exit: async (userId: string, context: CommandContext) =>
      resultOf(await run({ type: 'LeaveServer', userId, now: clock.now() }, context), LEFT),

    /** Result of a removal or departure, if this command did it: the caller can no longer be authenticated. */
    async findDepartureResult(how: 'removed' | 'left', context: CommandContext) {
      const found = await idempotency.findResult(rosterAggregate, ROSTER, context);
      return found && resultOf<RosterState, object>(found, how === 'left' ? LEFT : REMOVED);
    },

    async list(seen?: Position): Promise<CommandResult<{ readonly users: readonly UserView[] }>> {
      const { state, position } = await admission.roster(seen);
      const users = lists.get(state) ?? listUsers(state);
      lists.set(state, users);
      return { body: { users: await users }, position };
    },
  };
}

const REMOVED = { success: true };
const LEFT = { success: true, message: 'You have left' };

/** Current users in the order of joining. */
export async function listUsers({ users }: RosterState): Promise<readonly UserView[]> {
  const all: (UserView | undefined)[] = new Array(users.size);
  for (const user of users.values()) {
    if (sliceExpired()) await yieldToEventLoop();
    all[user.number] = user.isRemoved ? undefined : userView(user);
  }
  return all.filter((each) => each !== undefined);
}
