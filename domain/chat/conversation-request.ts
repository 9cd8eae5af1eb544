/**
 * What a request that carries a key asks for: which conversation it is to begin. A conversation's stream is found by who
 * the two are, which callers choose; by this one the same key, with somebody else, is found to be misused. Stream
 * `chat.request-<id>`.
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

/** So long a key is known. */
export const REQUEST_SECONDS = 86_400;

export const request: Decider<RequestState, RequestConversation, RequestEvent> = {
  initialState: { isMade: false },
  decide: ({ conversationId, by, now }, { isMade }) =>
    isMade ? [] : [{ type: 'ConversationRequested', data: { conversationId, by, requestedAt: now } }],
  evolve: { ConversationRequested: () => ({ isMade: true }) },
};
