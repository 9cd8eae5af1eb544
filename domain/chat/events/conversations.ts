/** What happens to conversations of two, besides what is said in them. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

export const conversationEvents = {
  /** Under a key: by it the key is known, with whomever it is used. */
  ConversationRequested: event(object({ conversationId: id, by: id, requestedAt: time })),
  ConversationStarted: event(
    object({
      conversationId: id,
      /** Two, sorted. */
      participants: { type: 'array', items: id },
      by: id,
      startedAt: time,
    }),
  ),
} as const;
