/** Views of channels, messages, threads and conversations, with current user names. */
import type { Channel } from '../../domain/chat/channels.js';
import type { MessageContent, Reactions, Thread } from '../../domain/chat/events/messages.js';
import { nameOf, type RosterState, userById } from '../../domain/chat/roster.js';

export interface AuthorView {
  readonly id: string;
  readonly userName: string;
  readonly isBot?: true;
}

export interface ThreadView extends Omit<Thread, 'lastReplyBy'> {
  readonly lastReplyBy: AuthorView;
}

/** A message in its current state; `reactions` is null when unknown or very many. */
export interface MessageSnapshot {
  readonly id: string;
  readonly channelId: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly pinnedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly body: MessageContent;
  readonly reactions: Reactions | null;
  readonly thread: Thread | null;
}

export interface MessageView
  extends Omit<MessageSnapshot, 'author' | 'body' | 'reactions' | 'thread'>,
    Omit<MessageContent, 'botName'> {
  readonly author: AuthorView;
  readonly reactions?: Reactions;
  readonly threadMeta?: ThreadView;
}

export interface ReplySnapshot {
  readonly id: string;
  readonly threadId: string;
  readonly channelId: string;
  readonly author: string;
  readonly createdAt: number;
  readonly updatedAt: number | null;
  readonly quotedMessageId: string | null;
  readonly body: MessageContent;
}

export interface ReplyView extends Omit<ReplySnapshot, 'author' | 'body'>, Omit<MessageContent, 'botName'> {
  readonly author: AuthorView;
}

export interface ChannelView {
  readonly id: string;
  readonly name: string;
  readonly topic?: string;
  readonly isPrivate: boolean;
  readonly members: readonly string[];
  readonly createdBy: string;
  readonly createdAt: number;
  readonly updatedAt?: number;
}

export interface ConversationView {
  readonly id: string;
  readonly participants: readonly string[];
  readonly createdAt: number;
  readonly lastMessageAt: number | null;
  readonly otherUser: AuthorView;
}

const authorView = (roster: RosterState, id: string): AuthorView => ({
  id,
  userName: nameOf(roster, id),
});

/** Author of a message; webhooks have their own name. */
export const speakerView = (roster: RosterState, id: string, { botName }: MessageContent): AuthorView =>
  botName === undefined ? authorView(roster, id) : { id, userName: botName, isBot: true };

export const threadView = (roster: RosterState, thread: Thread): ThreadView => ({
  ...thread,
  lastReplyBy: authorView(roster, thread.lastReplyBy),
});

export function messageView(roster: RosterState, message: MessageSnapshot): MessageView {
  const { body, author, reactions, thread, id, channelId, createdAt, updatedAt } = message;
  const { content, attachments, images, mentions } = body;
  const { quotedMessageId, pinnedAt } = message;
  return {
    id,
    channelId,
    author: speakerView(roster, author, body),
    content,
    attachments,
    images,
    mentions,
    quotedMessageId,
    pinnedAt,
    createdAt,
    updatedAt,
    ...(reactions && { reactions }),
    ...(thread && { threadMeta: threadView(roster, thread) }),
  };
}

export function replyView(roster: RosterState, reply: ReplySnapshot): ReplyView {
  const { body, author, id, threadId, channelId, createdAt, updatedAt, quotedMessageId } = reply;
  const { content, attachments, images, mentions } = body;
  const by = authorView(roster, author);
  const texts = { content, attachments, images, mentions };
  return { id, threadId, channelId, author: by, ...texts, quotedMessageId, createdAt, updatedAt };
}

/** Omits former users from members. */
export function channelView(roster: RosterState, channel: Channel): ChannelView {
  const { id, name, topic, isPrivate, members, createdBy, createdAt, updatedAt } = channel;
  return {
    id,
    name,
    ...(topic && { topic }),
    isPrivate,
    members: members.filter((each) => userById(roster, each)),
    createdBy,
    createdAt,
    ...(updatedAt !== undefined && { updatedAt }),
  };
}

export const conversationView = (
  roster: RosterState,
  reader: string,
  { id, participants, createdAt, lastMessageAt }: Omit<ConversationView, 'otherUser'>,
): ConversationView => {
  const other = participants.find((each) => each !== reader) ?? reader;
  return { id, participants, createdAt, lastMessageAt, otherUser: authorView(roster, other) };
};
