/**
 * Projects messages and replies, one row each, in order of posting, and conversation lists. Texts stay sealed. The row of
 * a deleted message or reply keeps only its place, for pages that end before it.
 */
import type { RecordedEvent } from '../../application/ports/index.js';
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { isDirect, participantsOf } from '../../domain/chat/events/channels.js';
import { parentOf } from '../../domain/chat/events/messages.js';
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
  | 'ReplyRemoved'
  | 'ChannelErased'
>;

/**
 * A message is in the list of its channel, a reply in that of its message. The first reactions are in the message's row,
 * further ones in rows of their own.
 */
export const messages: Projection<MessageChange> = {
  name: 'chat.messages',
  version: 4,
  indexes: [
    { key: { list: 1, posted: 1 } },
    // A sparse index has an entry for each row with any of its fields: only replies and deleted messages have these.
    { key: { parentChannel: 1, place: 1 }, sparse: true },
    // Only pinned messages and rows of further reactions have these fields.
    { key: { pinnedIn: 1, pinned: 1 }, sparse: true },
    { key: { of: 1 }, sparse: true },
  ],
  on: {
    MessagePosted: ({ data, position }) => [
      { make: data.messageId, row: { list: data.channelId, posted: longOf(position), ...contentOf(data) } },
    ],
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
    MessageDeleted: ({ data: { messageId, channelId: list, postedPosition } }) =>
      parentOf(messageId) === undefined
        ? [
            { replace: messageId, row: { list, place: longOf(BigInt(postedPosition)) } },
            { purge: { of: messageId } },
            { purge: { list: messageId }, many: true },
          ]
        : [{ patch: messageId, update: { $unset: CONTENT } }, { purge: { of: messageId } }],
    ReactionAdded: addReaction,
    ReactionRemoved: ({ data: { messageId, place } }) => [
      { patch: reactionsRow(messageId, place), update: { $pull: { reactions: { place } } } },
    ],
    ReplyPosted({ data, position }) {
      const { messageId, channelId: parentChannel, replyId, thread } = data;
      const posted = longOf(position);
      return [
        { make: replyId, row: { list: messageId, parentChannel, posted, place: posted, ...contentOf(data) } },
        { patch: messageId, update: { $set: { thread } } },
      ];
    },
    ReplyRemoved: ({ data: { messageId, thread } }) => [{ patch: messageId, update: { $set: { thread } } }],
    ChannelErased: ({ data: { channelId } }) => [
      { purge: { list: channelId }, many: true },
      { purge: { parentChannel: channelId }, many: true },
    ],
  },
};

function contentOf(data: RecordedEvent<ChatEvent<'MessagePosted' | 'ReplyPosted'>>['data']) {
  const { author, createdAt, quotedMessageId, secret } = data;
  return { author, createdAt, updatedAt: null, pinnedAt: null, quotedMessageId, secret };
}

const CONTENT_FIELDS = ['author', 'createdAt', 'updatedAt', 'pinnedAt', 'quotedMessageId', 'secret'];
/** Fields that the row of a deleted reply loses. */
const CONTENT = Object.fromEntries(
  [...CONTENT_FIELDS, 'posted', 'reactions', 'more'].map((field) => [field, '' as const]),
);

/** Row that holds a reaction: the message's own, or a further one. */
const reactionsRow = (messageId: string, place: number): string =>
  place < PER_ROW ? messageId : `${messageId}:${String(Math.floor(place / PER_ROW)).padStart(8, '0')}`;

function addReaction({ data }: RecordedEvent<ChatEvent<'ReactionAdded'>>): RowChange[] {
  const { messageId, channelId, userId, place, sign, secret } = data;
  const reactions = { place, sign, userId, secret };
  const row = reactionsRow(messageId, place);
  if (row === messageId) return [{ patch: row, update: { $push: { reactions } } }];
  const parent = parentOf(messageId);
  const lists = parent === undefined ? { list: channelId } : { list: parent, parentChannel: channelId };
  const further = { put: row, update: { $set: { of: messageId, ...lists }, $push: { reactions } } };
  // Marks the message, so that readers query further rows only when there are any.
  return place === PER_ROW ? [further, { patch: messageId, update: { $set: { more: true } } }] : [further];
}

type ConversationChange = ChatEvent<'ConversationStarted' | 'MessagePosted'>;

/** Conversations of each user by last activity: one row per participant. */
export const conversations: Projection<ConversationChange> = {
  name: 'chat.conversations',
  version: 1,
  indexes: [{ key: { user: 1, active: 1 } }],
  on: {
    ConversationStarted: ({ data: { conversationId, startedAt }, position }) =>
      rowsOf(conversationId).map(({ user, row }) => ({
        make: row,
        row: {
          user,
          conversation: conversationId,
          createdAt: startedAt,
          lastMessageAt: null,
          active: longOf(position),
        },
      })),
    MessagePosted: ({ data: { channelId, createdAt: lastMessageAt }, position }) =>
      isDirect(channelId)
        ? rowsOf(channelId).map(({ row }) => ({
            patch: row,
            update: { $set: { lastMessageAt, active: longOf(position) } },
          }))
        : [],
  },
};

const rowsOf = (conversationId: string) =>
  (participantsOf(conversationId) ?? []).map((user) => ({ user, row: `${user} ${conversationId}` }));
