/**
 * Audit events, one stream per day. Streams `chat.audit-<yyyy-mm-dd>`, and `chat.acts-<yyyy-mm-dd>` for preserved
 * actions.
 */
import type { Decider } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { parentOf } from './events/messages.js';

export type AuditEvent = ChatEvent<'SignInLimitReached' | 'Exported' | 'ActKept'>;

/** Stream for an instant (Unix ms), by the UTC day. */
export const auditStream = ({ type }: AuditEvent, at: number): string =>
  `chat.${type === 'ActKept' ? 'acts' : 'audit'}-${new Date(at).toISOString().slice(0, 10)}`;

type Nothing = Record<never, never>;

/** Records what has already happened; nothing is decided. */
export const audit: Decider<Nothing, AuditEvent, AuditEvent> = {
  initialState: {},
  decide: (event) => [event],
  evolve: { SignInLimitReached: (state) => state, Exported: (state) => state, ActKept: (state) => state },
};

export interface AuditEntry {
  /** `<target>.<verb>`. */
  readonly action: string;
  readonly by: string;
  readonly target: readonly [type: string, id: string];
  readonly metadata?: object;
}

/** Events in streams that are erased: those of messages and of users. */
export type ErasableFact = ChatEvent<'MessageDeleted' | 'PasswordSet'>;

/** The event without its sealed part, which is of no interest to auditors. */
type Unsealed<Fact> = Fact extends { readonly type: infer Type; readonly data: infer Data }
  ? { readonly type: Type; readonly data: Omit<Data, 'secret'> }
  : never;

/** Undefined for actions of users on their own content, which are not audited. */
export function auditEntryFor({ type, data }: Unsealed<ErasableFact>): AuditEntry | undefined {
  if (type === 'PasswordSet') {
    const { userId, by } = data;
    return by === userId ? undefined : { action: 'user.set-password', by, target: ['user', userId] };
  }
  const { messageId, channelId, author, by } = data;
  if (by === author) return undefined;
  const threadId = parentOf(messageId);
  if (threadId === undefined)
    return { action: 'message.delete', by, target: ['message', messageId], metadata: { channelId, author } };
  return { action: 'reply.delete', by, target: ['reply', messageId], metadata: { channelId, threadId, author } };
}
