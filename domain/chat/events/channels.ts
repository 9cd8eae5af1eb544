/** Events of channels and their webhooks. */
import { event, object } from '../../shared/index.js';
import { flag, id, text, time } from './words.js';

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
