/** Events of direct conversations, and their ids, which contain the two participants. */
import { event, object } from '../../shared/index.js';
import { id, time } from './words.js';

const PAIR = /^dm:([\w-]{22})_([\w-]{22})$/;
const DIRECT = 'dm:';

/** Whether an id is that of a direct conversation, not of a channel. */
export const isDirect = (channelId: string): boolean => channelId.startsWith(DIRECT);

/** Conversation id of two users, in either order. */
export const conversationOf = (one: string, other: string): string => `${DIRECT}${[one, other].toSorted().join('_')}`;

/** The two participants, sorted; undefined for an invalid id. */
export function participantsOf(conversationId: string): readonly [string, string] | undefined {
  const [, one, other] = PAIR.exec(conversationId) ?? [];
  return one !== undefined && other !== undefined && one < other ? [one, other] : undefined;
}

/** Stream of the conversation, and key subject of its content. */
export const conversationSubject = (conversationId: string): string =>
  `chat.conversation-${conversationId.slice(DIRECT.length)}`;

export const conversationEvents = {
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
