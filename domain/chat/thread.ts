/** The replies to a message: who wrote each, and what is told of all of them. Kept short, since they may be 100,000. */
import { PersistentMap } from '../shared/index.js';
import type { MessageContent, Thread } from './events/messages.js';

/** Told of who took part: more would make every further reply as large as they are many. */
export const SHOWN_PARTICIPANTS = 100;

/** Of one person to one message, those counted too that are deleted: all that was is read before another is written. */
export const MOST_REPLIES = 10_000;

/** Lines that are put together once they are so many. */
const BLOCK = 128;

export interface Replies {
  /** A line a reply, oldest first: its id, when it was written, and its author by number; of a deleted one nothing. */
  readonly blocks: readonly string[];
  readonly tail: readonly string[];
  readonly count: number;
  /** All who ever wrote one, in the order in which they came; and how many of each are there, and ever were. */
  readonly authors: readonly string[];
  readonly written: PersistentMap<Written>;
}

interface Written {
  readonly number: number;
  readonly count: number;
  readonly ever: number;
}

export const noReplies: Replies = {
  blocks: [],
  tail: [],
  count: 0,
  authors: [],
  written: PersistentMap.empty(),
};

export interface ReplyText {
  readonly said: MessageContent;
  readonly quotedMessageId: string | null;
}

/** The whole reply as it is to be, from what it was. */
export interface ReplyEdit {
  readonly from: ReplyText;
  readonly to: ReplyText;
  /** How often replies of the message had been edited then. */
  readonly edits: number;
}

export interface Reply {
  readonly author: string;
  readonly createdAt: number;
}

const RADIX = 36;

/** A reply that is there. */
export const replyWith = (replies: Replies, replyId: string): Reply | undefined => found(replies, replyId)?.reply;

/** Whether somebody may write no more. */
export const hasRepliedEnough = ({ written }: Replies, author: string): boolean =>
  (written.get(author)?.ever ?? 0) >= MOST_REPLIES;

export function withReply(replies: Replies, replyId: string, { author, createdAt }: Reply): Replies {
  const { blocks, tail, count, authors, written } = replies;
  const { number, count: before, ever } = written.get(author) ?? { number: authors.length, count: 0, ever: 0 };
  const lines = [...tail, `\n${replyId} ${createdAt.toString(RADIX)} ${number.toString(RADIX)}`];
  const isFull = lines.length === BLOCK;
  return {
    blocks: isFull ? [...blocks, lines.join('')] : blocks,
    tail: isFull ? [] : lines,
    count: count + 1,
    authors: number < authors.length ? authors : [...authors, author],
    written: written.set(author, { number, count: before + 1, ever: ever + 1 }),
  };
}

export function withoutReply(replies: Replies, replyId: string): Replies {
  const place = found(replies, replyId);
  if (!place) return replies;
  const { list, index, line, reply } = place;
  const mine = replies.written.get(reply.author)!;
  const without = replies[list][index]!.replace(line, '');
  return {
    ...replies,
    [list]: replies[list].with(index, without),
    count: replies.count - 1,
    written: replies.written.set(reply.author, { ...mine, count: mine.count - 1 }),
  };
}

/** What is told of them; null where there are none. */
export function threadOf(replies: Replies): Thread | null {
  const { count, authors, written } = replies;
  const last = lastOf(replies);
  if (!last) return null;
  const participants: string[] = [];
  for (const author of authors) {
    if (participants.length === SHOWN_PARTICIPANTS) break;
    if (written.get(author)!.count > 0) participants.push(author);
  }
  return { replyCount: count, lastReplyAt: last.createdAt, lastReplyBy: last.author, participants };
}

/** A line that is there, and in which of the lists. */
function found({ blocks, tail, authors }: Replies, replyId: string) {
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
    return { list, index, line, reply: replyIn(line, authors)! };
  }
  return undefined;
}

function replyIn(line: string, authors: readonly string[]): Reply | undefined {
  const [, time, author] = line.split(' ');
  if (time === undefined || author === undefined) return undefined;
  return {
    author: authors[Number.parseInt(author, RADIX)] ?? '',
    createdAt: Number.parseInt(time, RADIX),
  };
}

/** The newest that is not deleted. */
function lastOf({ blocks, tail, count, authors }: Replies): Reply | undefined {
  if (count === 0) return undefined;
  for (const texts of [tail, blocks]) {
    for (const text of texts.toReversed()) {
      for (const line of text.split('\n').reverse()) {
        const reply = replyIn(line, authors);
        if (reply) return reply;
      }
    }
  }
  return undefined;
}
