/** The conversations of each user, by when something was last said in them: a row for each of the two. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { isDirect, participantsOf } from '../../domain/chat/conversation-id.js';
import { longOf, type Projection } from '../kernel/index.js';

type ConversationChange = ChatEvent<'ConversationStarted' | 'MessagePosted'>;

/** What is last said moves it to the front. */
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
