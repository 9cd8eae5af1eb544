/** Password of a user, as salt and derived key. Stream `chat.user-<userId>`. */

import { type Decider, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { userSubject } from './events/roster.js';

/** Base64url. */
export interface Hashed {
  readonly salt: string;
  readonly hash: string;
}

/** Undefined when never set or erased. */
export type PasswordState = Hashed | undefined;

export interface SetPassword extends Hashed {
  readonly type: 'SetPassword';
  readonly userId: string;
  readonly by: string;
  readonly isFirst: boolean;
  readonly now: number;
}

export type PasswordSet = ChatEvent<'PasswordSet'>;

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 1024;

export const badPassword = rejection(
  'chat/bad-password',
  'invalid',
  `password must be ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`,
);

export const userStream = (userId: string): string => userSubject({ userId });

export function isPassword(text: string): boolean {
  const { length } = [...text.slice(0, 2 * MAX_CHARACTERS + 1)];
  return length >= MIN_CHARACTERS && length <= MAX_CHARACTERS;
}

export const password: Decider<PasswordState, SetPassword, PasswordSet> = {
  initialState: undefined,
  decide({ userId, by, salt, hash, isFirst, now }, state) {
    if (state && isFirst) return [];
    return [{ type: 'PasswordSet', data: { userId, by, setAt: now, secret: { salt, hash } } }];
  },
  evolve: {
    PasswordSet: (_, { secret }) => (secret.hash === '' ? undefined : secret),
  },
};
