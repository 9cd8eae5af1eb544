/** Where something is said: in a channel, or between two, which the id of a conversation says by itself. */

const PAIR = /^dm:([\w-]{22})_([\w-]{22})$/;
const DIRECT = 'dm:';

/** Whether it is the id of a conversation, and not of a channel. */
export const isDirect = (channelId: string): boolean => channelId.startsWith(DIRECT);

/** The conversation of two, whoever of them asks. */
export const conversationOf = (one: string, other: string): string => `${DIRECT}${[one, other].toSorted().join('_')}`;

/** The two, sorted; undefined where no conversation is called so. */
export function participantsOf(conversationId: string): readonly [string, string] | undefined {
  const [, one, other] = PAIR.exec(conversationId) ?? [];
  return one !== undefined && other !== undefined && one < other ? [one, other] : undefined;
}

/** Its stream, and the subject whose key seals what is said in it. */
export const conversationSubject = (conversationId: string): string =>
  `chat.conversation-${conversationId.slice(DIRECT.length)}`;
