/** Events of channels with their webhooks, and of direct conversations; their ids and key subjects. */
import { event, flag, id, object, requestEvents, text, time } from '../../shared/index.js';

export const channelSubject = ({ channelId }: { readonly channelId: string }): string => `chat.channel-${channelId}`;

const ids = { type: 'array', items: id } as const;

export const channelEvents = {
  ChannelCreated: event(
    object({
      channelId: id,
      createdBy: id,
      createdAt: time,
      isPrivate: flag,
      /** Initial members, the creator first. */
      members: ids,
      secret: object({ name: text }, { topic: text }),
    }),
    { sealed: { subject: channelSubject, erased: { name: '' } } },
  ),
  ChannelUpdated: event(
    object(
      {
        channelId: id,
        by: id,
        updatedAt: time,
        joined: ids,
        left: ids,
        secret: object({}, { name: text, topic: text }),
      },
      { isPrivate: flag },
    ),
    { sealed: { subject: channelSubject, erased: {} } },
  ),
  ChannelDeleted: event(object({ channelId: id, by: id, deletedAt: time }), { erases: channelSubject }),
  /** Holds only a hash of the token, so that reading the log does not allow posting. */
  WebhookCreated: event(
    object({
      webhookId: id,
      channelId: id,
      createdBy: id,
      createdAt: time,
      tokenHash: id,
      secret: object({ name: text }),
    }),
    { sealed: { subject: channelSubject, erased: { name: '' } } },
  ),
  WebhookDeleted: event(object({ webhookId: id, channelId: id, by: id, deletedAt: time })),
  /** Last step of a deletion: the message streams are tombstoned. */
  ChannelErased: event(object({ channelId: id, erasedAt: time })),
} as const;

const PAIR = /^dm:([\w-]{22})_([\w-]{22})$/;
const DIRECT = 'dm:';

/** Whether an id is that of a direct conversation, not of a channel. */
export const isDirect = (channelId: string): boolean => channelId.startsWith(DIRECT);

/** Conversation id of two users, in either order. */
export const conversationOf = (one: string, other: string): string => `${DIRECT}${[one, other].toSorted().join('_')}`;

/** The two participants, sorted; undefined for an invalid id. */
export function participantsOf(conversationId: string): readonly [string, string] | undefined {
  const [, one, other] = PAIR.exec(conversationId) ?? [];
  return one !== undefined && other !== undefined && one < other ? [one, other] : undefined;
}

/** Stream of the conversation, and key subject of its content. */
export const conversationSubject = (conversationId: string): string =>
  `chat.conversation-${conversationId.slice(DIRECT.length)}`;

export const conversationEvents = {
  ...requestEvents,
  ConversationStarted: event(
    object({
      conversationId: id,
      /** Two user ids, sorted. */
      participants: { type: 'array', items: id },
      by: id,
      startedAt: time,
    }),
  ),
} as const;
