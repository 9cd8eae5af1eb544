/**
 * Projects messages, one row each, by channel and order of posting. The first reactions are in the message's row,
 * further ones in rows of their own. Texts stay sealed. A deleted message's row keeps only its position, for pages that
 * end before it.
 */
import type { RecordedEvent } from '../../application/ports/index.js';
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { longOf, type Projection, type RowChange } from '../kernel/index.js';

/** Reactions per row; each addition rewrites its row. */
const PER_ROW = 32;

type MessageChange = ChatEvent<
  | 'MessagePosted'
  | 'MessageEdited'
  | 'MessagePinned'
  | 'MessageUnpinned'
  | 'MessageDeleted'
  | 'ReactionAdded'
  | 'ReactionRemoved'
  | 'ReplyPosted'
  | 'ReplyDeleted'
  | 'ChannelErased'
>;

export const messages: Projection<MessageChange> = {
  name: 'chat.messages',
  version: 2,
  indexes: [
    { key: { channel: 1, posted: 1 } },
    // Only pinned messages and rows of further reactions have these fields.
    { key: { pinnedIn: 1, pinned: 1 }, sparse: true },
    { key: { of: 1 }, sparse: true },
  ],
  on: {
    MessagePosted({ data, position }) {
      const { messageId, channelId: channel, author, createdAt, quotedMessageId, secret } = data;
      const fields = { author, createdAt, updatedAt: null, pinnedAt: null, quotedMessageId, secret };
      return [{ make: messageId, row: { channel, posted: longOf(position), ...fields } }];
    },
    MessageEdited: ({ data: { messageId, updatedAt, quotedMessageId, secret } }) => [
      { patch: messageId, update: { $set: { updatedAt, quotedMessageId, secret } } },
    ],
    MessagePinned: ({ data: { messageId, channelId, pinnedAt }, position }) => [
      {
        patch: messageId,
        update: { $set: { pinnedAt, pinnedIn: channelId, pinned: longOf(position) } },
      },
    ],
    MessageUnpinned: ({ data: { messageId } }) => [
      { patch: messageId, update: { $set: { pinnedAt: null }, $unset: { pinnedIn: '', pinned: '' } } },
    ],
    MessageDeleted: ({ data: { messageId, channelId: channel, postedPosition } }) => [
      { replace: messageId, row: { channel, place: longOf(BigInt(postedPosition)) } },
      { purge: { of: messageId } },
    ],
    ReactionAdded: addReaction,
    ReactionRemoved: ({ data: { messageId, place } }) => [
      { patch: reactionsRow(messageId, place), update: { $pull: { reactions: { place } } } },
    ],
    ReplyPosted: ({ data: { messageId, thread } }) => [{ patch: messageId, update: { $set: { thread } } }],
    ReplyDeleted: ({ data: { messageId, thread } }) => [
      { patch: messageId, update: thread ? { $set: { thread } } : { $unset: { thread: '' } } },
    ],
    ChannelErased: ({ data: { channelId } }) => [{ purge: { channel: channelId }, many: true }],
  },
};

/** Row that holds a reaction: the message's own, or a further one. */
const reactionsRow = (messageId: string, place: number): string =>
  place < PER_ROW ? messageId : `${messageId}:${String(Math.floor(place / PER_ROW)).padStart(8, '0')}`;

function addReaction({ data }: RecordedEvent<ChatEvent<'ReactionAdded'>>): RowChange[] {
  const { messageId, channelId, userId, place, sign, secret } = data;
  const reactions = { place, sign, userId, secret };
  const row = reactionsRow(messageId, place);
  if (row === messageId) return [{ patch: row, update: { $push: { reactions } } }];
  const further = { put: row, update: { $set: { of: messageId, channel: channelId }, $push: { reactions } } };
  // Marks the message, so that readers query further rows only when there are any.
  return place === PER_ROW ? [further, { patch: messageId, update: { $set: { more: true } } }] : [further];
}
