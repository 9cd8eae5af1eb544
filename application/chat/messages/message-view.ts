/** Views of messages and threads with current user names, and how events change a message. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { type MessageContent, parentOf, type Reactions, type Thread } from '../../../domain/chat/events/messages.js';
import type { MessageEvent, MessageState } from '../../../domain/chat/message.js';
import { nameOf, type RosterState } from '../../../domain/chat/roster.js';
import type { ThreadEvent } from '../../../domain/chat/thread.js';
import { ownEntry } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';

export interface AuthorView {
  readonly id: string;
  readonly userName: string;
  readonly isBot?: true;
}

export interface ThreadView extends Omit<Thread, 'lastReplyBy'> {
  readonly lastReplyBy: AuthorView;
}

/** A message or reply in its current state; `reactions` is null when unknown or very many. */
export interface MessageSnapshot extends Omit<MessageState, 'status' | 'reactions' | 'changes'> {
  readonly id: string;
  readonly reactions: Reactions | null;
  readonly thread: Thread | null;
}

export interface MessageView
  extends Omit<MessageSnapshot, 'author' | 'body' | 'reactions' | 'thread'>,
    Omit<MessageContent, 'botName'> {
  readonly author: AuthorView;
  readonly reactions?: Reactions;
  /** Of a reply. */
  readonly threadId?: string;
  readonly threadMeta?: ThreadView;
}

export const authorView = (roster: RosterState, id: string): AuthorView => ({ id, userName: nameOf(roster, id) });

/** Author of a message; webhooks have their own name. */
export const speakerView = (
  roster: RosterState,
  id: string,
  { botName }: Pick<MessageContent, 'content' | 'botName'>,
): AuthorView => (botName === undefined ? authorView(roster, id) : { id, userName: botName, isBot: true });

export const threadView = (roster: RosterState, thread: Thread): ThreadView => ({
  ...thread,
  lastReplyBy: authorView(roster, thread.lastReplyBy),
});

export function messageView(roster: RosterState, message: MessageSnapshot): MessageView {
  const { body, author, reactions, thread, id, channelId, createdAt, updatedAt } = message;
  const { content, attachments, images, mentions } = body;
  const { quotedMessageId, pinnedAt } = message;
  const threadId = parentOf(id);
  return {
    id,
    ...(threadId !== undefined && { threadId }),
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

type PostedData = ChatEvent<'MessagePosted' | 'ReplyWritten' | 'ReplyPosted'>['data'];

export function postedMessage(data: PostedData): MessageSnapshot {
  const { channelId, author, createdAt, quotedMessageId, secret: body } = data;
  const id = 'replyId' in data ? data.replyId : data.messageId;
  const unchanged = { updatedAt: null, pinnedAt: null, reactions: {}, thread: null };
  return { id, channelId, author, createdAt, quotedMessageId, body, ...unchanged };
}

export type MessageChange = MessageEvent | ThreadEvent;

/**
 * The message `id` after an event about it, its thread or its place in a thread; undefined once deleted. Without `before`
 * only a post, and an event that holds the whole message, yield one: the latter without the thread.
 */
export function messageAfter(
  id: string,
  before: MessageSnapshot | undefined,
  event: RevealedEvent<MessageChange>,
): MessageSnapshot | undefined {
  switch (event.type) {
    case 'MessagePosted':
    case 'ReplyWritten':
      return postedMessage(event.data);
    case 'MessageEdited':
    case 'MessagePinned':
    case 'MessageUnpinned': {
      const { channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId } = event.data;
      const { reactions, ...body } = event.data.secret;
      const fields = { id, channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId, body };
      return { ...fields, reactions: reactions ?? before?.reactions ?? null, thread: before?.thread ?? null };
    }
    case 'MessageDeleted':
      return undefined;
    case 'ReactionAdded':
    case 'ReactionRemoved': {
      const { userId, secret } = event.data;
      return (
        before && { ...before, reactions: reactionsAfter(before.reactions ?? {}, secret.reaction, userId, event.type) }
      );
    }
    case 'ReplyPosted':
      if (event.data.replyId === id) return postedMessage(event.data);
      return before && { ...before, thread: event.data.thread };
    case 'ReplyRemoved':
      if (event.data.replyId === id) return undefined;
      return before && { ...before, thread: event.data.thread };
    case 'ThreadClosed':
      return before;
  }
}

function reactionsAfter(
  reactions: Reactions,
  reaction: string,
  userId: string,
  type: 'ReactionAdded' | 'ReactionRemoved',
): Reactions {
  const users = ownEntry(reactions, reaction) ?? [];
  if (type === 'ReactionAdded') return { ...reactions, [reaction]: [...users, userId] };
  const { [reaction]: _, ...others } = reactions;
  const left = users.filter((each) => each !== userId);
  return left.length > 0 ? { ...others, [reaction]: left } : others;
}
