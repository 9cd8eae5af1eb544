/** The replies to messages, a row each, found by their message in the order in which they were written. Texts stay sealed. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { longOf, type Projection } from '../projection.js';

type Told = ChatEvent<'ReplyPosted' | 'ReplyEdited' | 'ReplyDeleted' | 'MessageDeleted' | 'ChannelErased'>;

export const replies: Projection<Told> = {
  name: 'chat.replies',
  version: 1,
  indexes: [{ key: { thread: 1, posted: 1 } }, { key: { channel: 1 } }],
  on: {
    ReplyPosted({ data, position }) {
      const { messageId: thread, channelId: channel, replyId, author, createdAt } = data;
      const { quotedMessageId, secret } = data;
      const said = { author, createdAt, updatedAt: null, quotedMessageId, secret };
      return [{ make: replyId, row: { thread, channel, posted: longOf(position), ...said } }];
    },
    ReplyEdited: ({ data: { replyId, editedAt: updatedAt, quotedMessageId, secret } }) => [
      { patch: replyId, update: { $set: { updatedAt, quotedMessageId, secret } } },
    ],
    ReplyDeleted: ({ data: { replyId } }) => [{ remove: replyId }],
    MessageDeleted: ({ data: { messageId } }) => [{ purge: { thread: messageId }, many: true }],
    ChannelErased: ({ data: { channelId } }) => [{ purge: { channel: channelId }, many: true }],
  },
};
