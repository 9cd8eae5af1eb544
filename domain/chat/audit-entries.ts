/** Audit entries for events in streams that are erased later. */
import type { ChatEvent } from './catalog.js';

export interface AuditEntry {
  /** `<target>.<verb>`. */
  readonly action: string;
  readonly by: string;
  readonly target: readonly [type: string, id: string];
  readonly metadata?: object;
}

/** Events in streams that are erased: those of messages and of users. */
export type ErasableFact = ChatEvent<'MessageDeleted' | 'ReplyDeleted' | 'PasswordSet'>;

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
  if (type === 'MessageDeleted')
    return { action: 'message.delete', by, target: ['message', messageId], metadata: { channelId, author } };
  const metadata = { channelId, threadId: messageId, author };
  return { action: 'reply.delete', by, target: ['reply', data.replyId], metadata };
}
