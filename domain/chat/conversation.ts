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

/**
 * Records which conversation an idempotency key started. Conversation streams are named by their participants, so only
 * this stream reveals a key that is reused with another user. Stream `chat.request-<id>`.
 */
export interface RequestConversation {
  readonly type: 'RequestConversation';
  readonly conversationId: string;
  readonly by: string;
  readonly now: number;
}

export interface RequestState {
  readonly isMade: boolean;
}

export type RequestEvent = ChatEvent<'ConversationRequested'>;

export const requestStream = (requestId: string): string => `chat.request-${requestId}`;

/** Seconds an idempotency key is remembered. */
export const REQUEST_SECONDS = 86_400;

export const request: Decider<RequestState, RequestConversation, RequestEvent> = {
  initialState: { isMade: false },
  decide: ({ conversationId, by, now }, { isMade }) =>
    isMade ? [] : [{ type: 'ConversationRequested', data: { conversationId, by, requestedAt: now } }],
  evolve: { ConversationRequested: () => ({ isMade: true }) },
};
