/**
 * Projects replies, one row each, by message and order of posting. Texts stay sealed. A deleted reply's row keeps only
 * its position, for pages that end before it.
 */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { longOf, type Projection } from '../kernel/index.js';

type ReplyChange = ChatEvent<'ReplyPosted' | 'ReplyEdited' | 'ReplyDeleted' | 'MessageDeleted' | 'ChannelErased'>;

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
