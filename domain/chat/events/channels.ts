/** What happens to channels, besides what is said in them. */
import { event, object } from '../../shared/index.js';
import { flag, id, text, time } from './words.js';

/** Whose key seals what a channel is called and all that is said in it. */
export const channelSubject = ({ channelId }: { readonly channelId: string }): string => `chat.channel-${channelId}`;

const ids = { type: 'array', items: id } as const;

export const channelEvents = {
  ChannelCreated: event(
    object({
      channelId: id,
      createdBy: id,
      createdAt: time,
      isPrivate: flag,
      /** Whoever was named, the creator first. */
      members: ids,
      secret: object({ name: text }, { topic: text }),
    }),
    { sealed: { subject: channelSubject, erased: { name: '' } } },
  ),
  /** What has changed of it; who came in and who was taken out. */
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
  /** Only the hash of its token: who has the log can't speak with it. */
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
  /** The last step of deleting: the streams of its messages are ended, and nothing is left to read. */
  ChannelErased: event(object({ channelId: id, erasedAt: time })),
} as const;
