/** Replies to a message, each a message of its own: order and counters. Stream `chat.thread-<message id>`. */

import { type Decider, decideByType, type Evolve, PersistentMap, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { MessageContent, Thread, threadEvents } from './events/messages.js';
import { addCount, atMost, type Counts, countOf, noCounts } from './limits.js';
import { messageNotFound } from './message.js';

/** Participants in a thread summary; each event repeats the summary. */
const MAX_PARTICIPANTS = 100;

/** Replies per user and thread, including deleted ones: all events are read before the next reply. */
export const MAX_REPLIES = 10_000;

/** Entry of a doubly linked list, so that removing the newest reply does not search for the one before it. */
interface Reply {
  readonly author: string;
  readonly createdAt: number;
  /** Ids of the replies before and after it; empty at the ends. */
  readonly previous: string;
  readonly next: string;
}

export interface ThreadState {
  /** The message is being deleted. */
  readonly isClosed: boolean;
  readonly channelId: string;
  /** By id. */
  readonly replies: PersistentMap<Reply>;
  /** Id of the newest reply; empty without replies. */
  readonly newest: string;
  /** In order of their first reply. */
  readonly authors: readonly string[];
  readonly byAuthor: Counts;
  readonly everByAuthor: Counts;
}

export type ThreadCommand = { readonly messageId: string; readonly now: number } & (
  | {
      type: 'AddReply';
      channelId: string;
      replyId: string;
      author: string;
      body: MessageContent;
      quotedMessageId: string | null;
    }
  | { type: 'RemoveReply'; replyId: string }
  | { type: 'CloseThread'; channelId: string; by: string }
);

export type ThreadEvent = ChatEvent<keyof typeof threadEvents>;

export const threadStream = (messageId: string): string => `chat.thread-${messageId}`;

const initialState: ThreadState = {
  isClosed: false,
  channelId: '',
  replies: PersistentMap.empty(),
  newest: '',
  authors: [],
  byAuthor: noCounts,
  everByAuthor: noCounts,
};

const tooManyReplies = atMost(
  'chat/too-many-replies',
  `${MAX_REPLIES} replies per user to one message; post a new message`,
);

const decideOpen = decideByType<ThreadState, ThreadCommand, ThreadEvent>({
  AddReply({ messageId, channelId, replyId, author, quotedMessageId, body: secret, now }, state) {
    if (state.replies.has(replyId)) return [];
    if (countOf(state.everByAuthor, author) >= MAX_REPLIES) return tooManyReplies;
    const thread = threadOf(withReply(state, replyId, author, now))!;
    const reply = { messageId, channelId, replyId, author, createdAt: now, quotedMessageId };
    return [{ type: 'ReplyPosted', data: { ...reply, thread, secret } }];
  },
  RemoveReply({ messageId, replyId, now }, state) {
    const { channelId } = state;
    if (!state.replies.has(replyId)) return [];
    const thread = threadOf(withoutReply(state, replyId));
    return [{ type: 'ReplyRemoved', data: { messageId, channelId, replyId, removedAt: now, thread } }];
  },
  CloseThread: ({ messageId, channelId, by, now }) => [
    { type: 'ThreadClosed', data: { messageId, channelId, by, closedAt: now } },
  ],
});

const decide = (command: ThreadCommand, state: ThreadState): readonly ThreadEvent[] | Rejection =>
  state.isClosed ? messageNotFound : decideOpen(command, state);

function withReply(state: ThreadState, replyId: string, author: string, createdAt: number): ThreadState {
  const { newest: previous } = state;
  return {
    ...state,
    replies: link(state.replies, previous, { next: replyId }).set(replyId, { author, createdAt, previous, next: '' }),
    newest: replyId,
    authors: countOf(state.everByAuthor, author) > 0 ? state.authors : [...state.authors, author],
    byAuthor: addCount(state.byAuthor, author),
    everByAuthor: addCount(state.everByAuthor, author),
  };
}

function withoutReply(state: ThreadState, replyId: string): ThreadState {
  const reply = state.replies.get(replyId);
  if (!reply) return state;
  const { author, previous, next } = reply;
  const replies = link(link(state.replies.delete(replyId), previous, { next }), next, { previous });
  const newest = next === '' ? previous : state.newest;
  return { ...state, replies, newest, byAuthor: addCount(state.byAuthor, author, -1) };
}

function link(replies: ThreadState['replies'], id: string, change: Partial<Pick<Reply, 'previous' | 'next'>>) {
  const reply = replies.get(id);
  return reply ? replies.set(id, { ...reply, ...change }) : replies;
}

/** Thread summary; null without replies. */
export function threadOf({ replies, newest, authors, byAuthor }: ThreadState): Thread | null {
  const last = replies.get(newest);
  if (!last) return null;
  const participants: string[] = [];
  for (const author of authors) {
    if (participants.length === MAX_PARTICIPANTS) break;
    if (byAuthor.has(author)) participants.push(author);
  }
  return { replyCount: replies.size, lastReplyAt: last.createdAt, lastReplyBy: last.author, participants };
}

const evolve: Evolve<ThreadState, ThreadEvent> = {
  ReplyPosted: (state, { channelId, replyId, author, createdAt }) => ({
    ...withReply(state, replyId, author, createdAt),
    channelId,
  }),
  ReplyRemoved: (state, { replyId }) => withoutReply(state, replyId),
  ThreadClosed: (state) => ({ ...state, isClosed: true }),
};

export const thread: Decider<ThreadState, ThreadCommand, ThreadEvent> = { initialState, decide, evolve };
