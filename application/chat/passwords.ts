/** Passwords of users: set, and compared. */
import { userSubject } from '../../domain/chat/events/roster.js';
import { badPassword, isPassword, userStream } from '../../domain/chat/password.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../command/handle.js';
import type { Streams } from '../command/streams.js';
import type { Hashed, PasswordHashing } from '../identity-ports.js';
import type { Clock, CommandContext, Vault } from '../ports.js';
import { passwordKind } from './kinds.js';

export interface PasswordPorts {
  readonly handle: Handle;
  readonly streams: Streams;
  readonly vault: Pick<Vault, 'create'>;
  readonly hashing: PasswordHashing;
  readonly clock: Clock;
}

export type Passwords = ReturnType<typeof createPasswords>;

export function createPasswords({ handle, streams, vault, hashing, clock }: PasswordPorts) {
  return {
    /** What will be kept of it, or why it can't be one. */
    hash: async (password: string): Promise<Hashed | Rejection> =>
      isPassword(password) ? hashing.hash(password) : badPassword,

    /** `isFirst`: one that is there stays. */
    async set(
      userId: string,
      hashed: Hashed,
      { by, isFirst = false }: { readonly by: string; readonly isFirst?: boolean },
      context: CommandContext,
    ): Promise<Rejection | undefined> {
      const command = { type: 'SetPassword' as const, userId, by, ...hashed, isFirst, now: clock.now() };
      const before = async () => {
        await vault.create(userSubject({ userId }));
        return undefined;
      };
      const outcome = await handle(passwordKind, userStream(userId), command, context, before);
      return isRejection(outcome) ? outcome : undefined;
    },

    isSet: async (userId: string): Promise<boolean> =>
      (await streams.refresh(passwordKind, userStream(userId))).state !== undefined,

    /** Takes as long for nobody: who is not known was looked for in the log as well. */
    async matches(userId: string | undefined, password: string): Promise<boolean> {
      const known =
        userId === undefined ? undefined : (await streams.refresh(passwordKind, userStream(userId))).state;
      return hashing.matches(password, known);
    },
  };
}
