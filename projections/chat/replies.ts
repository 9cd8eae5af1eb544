/**
 * The replies to messages, a row each, found by their message in the order in which they were written. Texts stay sealed.
 * Of a deleted reply the row keeps its place alone, for pages that end before it.
 */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { longOf, type Projection } from '../kernel/index.js';

type ReplyChange = ChatEvent<'ReplyPosted' | 'ReplyEdited' | 'ReplyDeleted' | 'MessageDeleted' | 'ChannelErased'>;

/** What a deleted reply loses. */
const CONTENT_FIELDS = {
  posted: '',
  author: '',
  createdAt: '',
  updatedAt: '',
  quotedMessageId: '',
  secret: '',
} as const;

export const replies: Projection<ReplyChange> = {
  name: 'chat.replies',
  version: 2,
  indexes: [{ key: { thread: 1, posted: 1 } }, { key: { channel: 1 } }],
  on: {
    ReplyPosted({ data, position }) {
      const { messageId: thread, channelId: channel, replyId, author, createdAt } = data;
      const { quotedMessageId, secret } = data;
      const fields = { author, createdAt, updatedAt: null, quotedMessageId, secret };
      const posted = longOf(position);
      return [{ make: replyId, row: { thread, channel, posted, place: posted, ...fields } }];
    },
    ReplyEdited: ({ data: { replyId, editedAt: updatedAt, quotedMessageId, secret } }) => [
      { patch: replyId, update: { $set: { updatedAt, quotedMessageId, secret } } },
    ],
    ReplyDeleted: ({ data: { replyId } }) => [{ patch: replyId, update: { $unset: CONTENT_FIELDS } }],
    MessageDeleted: ({ data: { messageId } }) => [{ purge: { thread: messageId }, many: true }],
    ChannelErased: ({ data: { channelId } }) => [{ purge: { channel: channelId }, many: true }],
  },
};
