/** Audit log: events that exist for it alone, and actions that other events record. Stream `chat.audit-<yyyy-mm-dd>`. */
import type { Decider } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { parentOf } from './events/messages.js';

export type AuditEvent = ChatEvent<'SignInLimitReached' | 'Exported' | 'ActKept'>;

/** Stream for an instant (Unix ms), by the UTC day. */
export const auditStream = (at: number): string => `chat.audit-${new Date(at).toISOString().slice(0, 10)}`;

type Nothing = Record<never, never>;

/** Records what has already happened; nothing is decided. */
export const audit: Decider<Nothing, AuditEvent, AuditEvent> = {
  initialState: {},
  decide: (event) => [event],
  evolve: { SignInLimitReached: (state) => state, Exported: (state) => state, ActKept: (state) => state },
};

/** `action`: `<target>.<verb>`. */
export type AuditedAct = Pick<ChatEvent<'ActKept'>['data'], 'action' | 'actorId' | 'targetType' | 'targetId'> & {
  readonly metadata: object;
};

const act = (action: string, actorId: string, targetId: string, metadata: object = {}): AuditedAct => {
  const [targetType = ''] = action.split('.');
  return { action, actorId, targetType, targetId, metadata };
};

/** Actor of entries caused by unknown people. */
const SYSTEM = 'system';

type DescribeAct<Type extends ChatEvent['type']> = (
  data: Omit<ChatEvent<Type>['data'], 'secret'>,
) => AuditedAct | undefined;

export const auditedActs = {
  // Only additions by an admin.
  UserAdded: ({ userId, isAdmin, how, by }) => (by ? act('user.add', by, userId, { isAdmin, how }) : undefined),
  RoleChanged: ({ userId, isAdmin, by }) => act('user.change-role', by, userId, { role: isAdmin ? 'admin' : 'user' }),
  UserRemoved: ({ userId, by }) => act('user.remove', by, userId),
  UserLeft: ({ userId }) => act('user.exit', userId, userId),
  UserErased: ({ userId, by }) => act('user.erase', by, userId),
  PasswordSet: ({ userId, by }) => (by === userId ? undefined : act('user.set-password', by, userId)),
  ServerRenamed: ({ by }) => act('settings.update', by, 'main'),
  ChannelCreated: ({ channelId, createdBy, isPrivate, members }) =>
    act('channel.create', createdBy, channelId, { isPrivate, members }),
  ChannelUpdated: ({ channelId, by, isPrivate, joined, left }) =>
    act('channel.update', by, channelId, { ...(isPrivate !== undefined && { isPrivate }), joined, left }),
  ChannelDeleted: ({ channelId, by }) => act('channel.delete', by, channelId),
  WebhookCreated: ({ webhookId, channelId, createdBy }) => act('webhook.create', createdBy, webhookId, { channelId }),
  WebhookDeleted: ({ webhookId, channelId, by }) => act('webhook.delete', by, webhookId, { channelId }),
  MessageDeleted({ messageId, channelId, author, by }) {
    if (by === author) return undefined;
    const threadId = parentOf(messageId);
    return threadId === undefined
      ? act('message.delete', by, messageId, { channelId, author })
      : act('reply.delete', by, messageId, { channelId, threadId, author });
  },
  SignInLimitReached: ({ addressId, limit, userId }) => ({
    ...act('sign-in.limit', SYSTEM, userId ?? addressId, { limit }),
    targetType: userId === undefined ? 'address' : 'user',
  }),
  Exported: ({ by }) => act('server.export', by, 'main'),
} as const satisfies { readonly [Type in ChatEvent['type']]?: DescribeAct<Type> };

export type AuditedEvent = ChatEvent<keyof typeof auditedActs>;

/** What an event means to auditors, without its secrets; undefined for acts of users on what is their own. */
export const auditedAct = ({ type, data }: Pick<AuditedEvent, 'type'> & { readonly data: object }) =>
  (auditedActs[type] as (data: object) => AuditedAct | undefined)(data);
