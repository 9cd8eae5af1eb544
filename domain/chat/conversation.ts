/** Direct conversation of two users; its state is only that it was started. Stream `chat.conversation-<pair>`. */

import { type Decider, type Evolve, type Rejection, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { participantsOf } from './events/channels.js';

export interface ConversationState {
  /** Unix ms; undefined before the start. */
  readonly startedAt?: number;
}

export interface StartConversation {
  readonly type: 'StartConversation';
  readonly conversationId: string;
  readonly by: string;
  readonly now: number;
}

export type ConversationEvent = ChatEvent<'ConversationStarted'>;

export const conversationNotFound = rejection('chat/conversation-not-found', 'not-found', 'Conversation not found');

function decide(
  { conversationId, by, now }: StartConversation,
  { startedAt }: ConversationState,
): readonly ConversationEvent[] | Rejection {
  const participants = participantsOf(conversationId);
  if (!participants?.includes(by)) return conversationNotFound;
  if (startedAt !== undefined) return [];
  return [{ type: 'ConversationStarted', data: { conversationId, participants, by, startedAt: now } }];
}

const evolve: Evolve<ConversationState, ConversationEvent> = {
  ConversationStarted: (_, { startedAt }) => ({ startedAt }),
};

export const conversation: Decider<ConversationState, StartConversation, ConversationEvent> = {
  initialState: {},
  decide,
  evolve,
};
