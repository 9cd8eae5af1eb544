/** Sets and verifies passwords of users. */

import { userSubject } from '../../../domain/chat/events/roster.js';
import { badPassword, isPassword, userStream } from '../../../domain/chat/password.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, Hashed, PasswordHashing, Position, Vault } from '../../ports/index.js';
import { passwordAggregate } from '../aggregates.js';

export interface PasswordPorts extends Pick<KernelPorts, 'handle' | 'aggregates' | 'clock'> {
  readonly vault: Pick<Vault, 'create'>;
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
