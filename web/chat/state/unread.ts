/** Read marks and what is unread: counted from loaded messages, so that counting again gives the same. */
import type { Message } from '../contract.js';
import { type ChatState, isDirect } from './chat-state.js';
import type { Timeline } from './timeline.js';

/** Kept in the browser per user. Times are those of messages. */
export interface Marks {
  /** Everything up to here was read before this browser kept marks. */
  readonly since: number;
  /** Time of the newest read message by channel, conversation, or thread. */
  readonly read: { readonly [key: string]: number };
  /** Channels without notices. */
  readonly muted: readonly string[];
}

export const newMarks = (since: number): Marks => ({ since, read: {}, muted: [] });

/** Marks as they were stored; null for a damaged value. */
export function storedMarks(value: unknown): Marks | null {
  const { since, read, muted } = (value ?? {}) as Partial<Marks>;
  if (typeof since !== 'number' || typeof read !== 'object' || read === null) return null;
  if (!Object.values(read).every(Number.isFinite) || !Array.isArray(muted)) return null;
  return { since, read, muted };
}

export const readUpTo = (marks: Marks, key: string): number => marks.read[key] ?? marks.since;

/** Marks a place as read up to a time; never goes back. */
export function markRead(marks: Marks, key: string, at: number): Marks {
  return readUpTo(marks, key) >= at ? marks : bounded({ ...marks, read: { ...marks.read, [key]: at } });
}

const [MAX_MARKS, TRIMMED_MARKS] = [3000, 2500];

/** Merges the oldest marks into `since`: threads add up over the years. */
function bounded(marks: Marks): Marks {
  const entries = Object.entries(marks.read);
  if (entries.length <= MAX_MARKS) return marks;
  entries.sort(([, a], [, b]) => b - a);
  const since = Math.max(marks.since, entries[TRIMMED_MARKS]?.[1] ?? 0);
  return { ...marks, since, read: Object.fromEntries(entries.slice(0, TRIMMED_MARKS)) };
}

/** Marks a message and everything after it as unread. */
export const markUnread = (marks: Marks, key: string, at: number): Marks => ({
  ...marks,
  read: { ...marks.read, [key]: at - 1 },
});

/** Whether a message addresses the user: by name, or everyone in the channel. */
export const isMentioned = ({ mentions }: Pick<Message, 'mentions'>, userId: string): boolean =>
  mentions.includes(userId) || mentions.includes('@channel') || mentions.includes('@here');

/** Parents of threads in which the user takes part or is mentioned, and others have replied last. */
export const threadsFor = ({ messages }: Timeline, userId: string): readonly Message[] =>
  messages.filter(({ author, threadMeta, mentions }) => {
    if (!threadMeta || threadMeta.lastReplyBy.id === userId) return false;
    return author.id === userId || threadMeta.participants.includes(userId) || mentions.includes(userId);
  });

export const isUnreadThread = ({ id, threadMeta }: Message, marks: Marks): boolean =>
  threadMeta !== undefined && threadMeta.lastReplyAt > readUpTo(marks, id);

export interface Unread {
  /** Messages of others after the mark, among those loaded. */
  readonly count: number;
  /** How many of them concern the user in person: mentions, and all direct messages. */
  readonly mentions: number;
}

export const NOTHING_UNREAD: Unread = { count: 0, mentions: 0 };

/** What is unread in a channel or conversation. */
export function unreadOf(
  state: Pick<ChatState, 'timelines' | 'conversations'>,
  marks: Marks,
  placeId: string,
  userId: string,
): Unread {
  const mark = readUpTo(marks, placeId);
  const timeline = state.timelines.get(placeId);
  let [count, mentions] = [0, 0];
  const messages = timeline?.messages ?? [];
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]!;
    if (message.createdAt <= mark) break;
    if (message.author.id === userId) continue;
    count += 1;
    if (isDirect(placeId) || isMentioned(message, userId)) mentions += 1;
  }
  const lastMessageAt = state.conversations.get(placeId)?.lastMessageAt ?? 0;
  return !timeline && lastMessageAt > mark ? { count: 1, mentions: 1 } : { count, mentions };
}
