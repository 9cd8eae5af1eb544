/** What auditors are told was done to what is others’, by facts whose streams go with what they are about. */
import type { ChatEvent } from './catalog.js';

/** What somebody did: `target` is what it was done to. */
export interface AuditEntry {
  /** `<target>.<verb>`. */
  readonly action: string;
  readonly by: string;
  readonly target: readonly [type: string, id: string];
  readonly metadata?: object;
}

/** Told in streams that are let go of: of messages, and about a person. */
export type ErasableFact = ChatEvent<'MessageDeleted' | 'ReplyDeleted' | 'PasswordSet'>;

/** As it is told: whatever is sealed in it tells auditors nothing. */
type Unsealed<Fact> = Fact extends { readonly type: infer Type; readonly data: infer Data }
  ? { readonly type: Type; readonly data: Omit<Data, 'secret'> }
  : never;

/** Undefined for what people do to their own: no auditor asks for it. */
export function actOf({ type, data }: Unsealed<ErasableFact>): AuditEntry | undefined {
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
