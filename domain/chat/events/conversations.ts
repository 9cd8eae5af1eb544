/** What happens to conversations of two, besides what is said in them. */
import { event } from '../../shared/catalog.js';
import { object } from '../../shared/schema.js';
import { id, time } from './words.js';

export const conversationEvents = {
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
