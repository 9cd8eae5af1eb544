/** Limits edits per user and message: every change stays in the stream and is read with it. */
import { PersistentMap, type Rejection } from '../shared/index.js';

/** Edits and pins per user and message, including edits of replies. */
export const MAX_CHANGES = 5000;

export type Changes = PersistentMap<number>;

export const noChanges: Changes = PersistentMap.empty();

export const tooManyChanges: Rejection = {
  rejected: 'chat/too-many-changes-of-message',
  kind: 'invalid',
  detail: `At most ${MAX_CHANGES} edits and pins per user in one message and its thread; post a new message`,
};

export const changedBy = (changes: Changes, userId: string): Changes =>
  changes.set(userId, (changes.get(userId) ?? 0) + 1);

export const limitReached = (changes: Changes, userId: string): boolean => (changes.get(userId) ?? 0) >= MAX_CHANGES;
