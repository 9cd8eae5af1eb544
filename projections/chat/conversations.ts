/** Projects the conversation list of each user by last activity: one row per participant. */
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { isDirect, participantsOf } from '../../domain/chat/events/conversations.js';
import { longOf, type Projection } from '../kernel/index.js';

type ConversationChange = ChatEvent<'ConversationStarted' | 'MessagePosted'>;

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
