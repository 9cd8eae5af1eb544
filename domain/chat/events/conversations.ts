/** Events of direct conversations. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

export const conversationEvents = {
  /** Binds an idempotency key to a conversation. */
  ConversationRequested: event(object({ conversationId: id, by: id, requestedAt: time })),
  ConversationStarted: event(
    object({
      conversationId: id,
      /** Two user ids, sorted. */
      participants: { type: 'array', items: id },
      by: id,
      startedAt: time,
    }),
  ),
} as const;
