/** Delivers a new direct conversation to its two participants. */
import type { ConversationEvent, RequestEvent } from '../../../domain/chat/conversation.js';
import type { Audience } from '../../subscription/index.js';
import { conversationView } from '../channels/conversations.js';
import { type ChatState, userKey } from './state.js';

export const conversationsOn: Audience<ChatState, ConversationEvent | RequestEvent>['on'] = {
  ConversationRequested: {},
  ConversationStarted: {
    deliver: ({ data: { conversationId: id, participants, startedAt: createdAt } }, { roster }) =>
      participants.map((each) => ({
        to: [userKey(each)],
        message: {
          type: 'NEW_CONVERSATION',
          payload: conversationView(roster, each, { id, participants, createdAt, lastMessageAt: null }),
        },
      })),
  },
};
