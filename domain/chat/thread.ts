/** Replies of a message, held compactly as there may be 100,000. */

import { PersistentMap, type Rejection } from '../shared/index.js';
import type { MessageContent, Thread } from './events/messages.js';
import { atMost } from './rejections.js';

/** Participants in a thread summary; each reply's event repeats the summary. */
export const MAX_PARTICIPANTS = 100;

/** Replies per user and message, including deleted ones: all events are read before the next reply. */
export const MAX_REPLIES = 10_000;

const BLOCK = 128;

export interface Replies {
  /** One line per reply, oldest first: id, time and author number; empty when deleted. */
  readonly blocks: readonly string[];
  readonly tail: readonly string[];
  readonly count: number;
  /** Authors in order of their first reply, with the number of current replies and of all. */
  readonly authors: readonly string[];
  readonly authorStats: PersistentMap<AuthorStats>;
}

interface AuthorStats {
  readonly number: number;
  readonly count: number;
  readonly ever: number;
}

export const noReplies: Replies = {
  blocks: [],
  tail: [],
  count: 0,
  authors: [],
  authorStats: PersistentMap.empty(),
};

export interface ReplyContent {
  readonly body: MessageContent;
  readonly quotedMessageId: string | null;
}

export interface ReplyEdit {
  readonly from: ReplyContent;
  readonly to: ReplyContent;
  /** Number of reply edits in the thread when `from` was read; detects concurrent edits. */
  readonly edits: number;
}

export interface Reply {
  readonly author: string;
  readonly createdAt: number;
}

const RADIX = 36;

export const findReply = (replies: Replies, replyId: string): Reply | undefined => findLine(replies, replyId)?.reply;

/** The edit is based on content that has changed; prepare it again. */
export const replyChanged: Rejection = { rejected: 'chat/reply-changed', kind: 'conflict' };
export const tooManyReplies = atMost(
  'chat/too-many-replies',
  `${MAX_REPLIES} replies per user to one message; post a new message`,
);

export const replyLimitReached = ({ authorStats }: Replies, author: string): boolean =>
  (authorStats.get(author)?.ever ?? 0) >= MAX_REPLIES;

export function withReply(replies: Replies, replyId: string, { author, createdAt }: Reply): Replies {
  const { blocks, tail, count, authors, authorStats } = replies;
  const { number, count: before, ever } = authorStats.get(author) ?? { number: authors.length, count: 0, ever: 0 };
  const lines = [...tail, `\n${replyId} ${createdAt.toString(RADIX)} ${number.toString(RADIX)}`];
  const isFull = lines.length === BLOCK;
  return {
    blocks: isFull ? [...blocks, lines.join('')] : blocks,
    tail: isFull ? [] : lines,
    count: count + 1,
    authors: number < authors.length ? authors : [...authors, author],
    authorStats: authorStats.set(author, { number, count: before + 1, ever: ever + 1 }),
  };
}

export function withoutReply(replies: Replies, replyId: string): Replies {
  const place = findLine(replies, replyId);
  if (!place) return replies;
  const { list, index, line, reply } = place;
  const stats = replies.authorStats.get(reply.author)!;
  const without = replies[list][index]!.replace(line, '');
  return {
    ...replies,
    [list]: replies[list].with(index, without),
    count: replies.count - 1,
    authorStats: replies.authorStats.set(reply.author, { ...stats, count: stats.count - 1 }),
  };
}

/** Thread summary; null without replies. */
export function threadOf(replies: Replies): Thread | null {
  const { count, authors, authorStats } = replies;
  const last = findLastReply(replies);
  if (!last) return null;
  const participants: string[] = [];
  for (const author of authors) {
    if (participants.length === MAX_PARTICIPANTS) break;
    if (authorStats.get(author)!.count > 0) participants.push(author);
  }
  return { replyCount: count, lastReplyAt: last.createdAt, lastReplyBy: last.author, participants };
}

function findLine({ blocks, tail, authors }: Replies, replyId: string) {
  const head = `\n${replyId} `;
  for (const [list, texts] of [
    ['tail', tail],
    ['blocks', blocks],
  ] as const) {
    const index = texts.findLastIndex((text) => text.includes(head));
    if (index < 0) continue;
    const text = texts[index]!;
    const from = text.indexOf(head);
    const to = text.indexOf('\n', from + 1);
    const line = text.slice(from, to < 0 ? undefined : to);
    return { list, index, line, reply: parseReply(line, authors)! };
  }
  return undefined;
}

function parseReply(line: string, authors: readonly string[]): Reply | undefined {
  const [, time, author] = line.split(' ');
  if (time === undefined || author === undefined) return undefined;
  return {
    author: authors[Number.parseInt(author, RADIX)] ?? '',
    createdAt: Number.parseInt(time, RADIX),
  };
}

function findLastReply({ blocks, tail, count, authors }: Replies): Reply | undefined {
  if (count === 0) return undefined;
  for (const texts of [tail, blocks]) {
    for (const text of texts.toReversed()) {
      for (const line of text.split('\n').reverse()) {
        const reply = parseReply(line, authors);
        if (reply) return reply;
      }
    }
  }
  return undefined;
}
