/**
 * Records which conversation an idempotency key started. Conversation streams are named by their participants, so only
 * this stream reveals a key that is reused with another user. Stream `chat.request-<id>`.
 */
import type { Decider } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';

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
