/** Events of messages, their reactions and threads. */
import { count, type DataOf, event, id, isVisible, none, object, oneOf, text, time } from '../../shared/index.js';
import { channelSubject, conversationSubject, isDirect } from './channels.js';

/** Key subject of the channel or conversation; for direct messages `channelId` is the conversation id. */
export const messageSubject = ({ channelId }: { readonly channelId: string }): string =>
  isDirect(channelId) ? conversationSubject(channelId) : channelSubject({ channelId });

const ids = { type: 'array', items: id } as const;

export const attachment = object({ filename: id, originalName: text, contentType: text, size: count });
export type Attachment = DataOf<typeof attachment>;

const texts = {
  content: text,
  attachments: { type: 'array', items: attachment },
  /** Stored names of uploaded images. */
  images: { type: 'array', items: id },
  /** User ids, or `@channel` and `@here`. */
  mentions: ids,
} as const;
const bot = { botName: text } as const;

const body = object(texts, bot);
/** Content of a message: text, attachments, images and mentions. */
export type MessageContent = DataOf<typeof body>;

export const EMPTY_CONTENT = { content: '', attachments: [], images: [], mentions: [] } as const;

/** Omits other members. */
export const contentOf = ({ content, attachments, images, mentions, botName }: MessageContent): MessageContent => ({
  content,
  attachments,
  images,
  mentions,
  ...(botName !== undefined && { botName }),
});

export const isEmpty = ({ content, attachments, images }: MessageContent): boolean =>
  !isVisible(content) && attachments.length === 0 && images.length === 0;

export const isSameContent = (a: MessageContent, b: MessageContent): boolean =>
  JSON.stringify(contentOf(a)) === JSON.stringify(contentOf(b));

/** User ids by reaction, in order of reacting. */
const reactions = { type: 'object', additionalProperties: ids } as const;
export type Reactions = DataOf<typeof reactions>;

const thread = object({ replyCount: count, lastReplyAt: time, lastReplyBy: id, participants: ids });
/** Summary of a thread. `participants`: the first ones, if there are many. */
export type Thread = DataOf<typeof thread>;

/** The id of a reply contains that of its message, so that the thread is known without a lookup. */
export const replyIdIn = (messageId: string, own: string): string => `${messageId}.${own}`;

/** The message a reply belongs to; undefined for ids of messages. */
export function parentOf(messageId: string): string | undefined {
  const dot = messageId.indexOf('.');
  return dot < 0 ? undefined : messageId.slice(0, dot);
}

/** Whether a text has the form of the id of a message or reply. */
export const isMessageId = (text: string): boolean => /^[\w-]{22}(\.[\w-]{22})?$/.test(text);

/** `messageId` may be that of a reply. */
const message = { messageId: id, channelId: id } as const;

/** The whole message after the event, so that consumers need no other event. */
const snapshot = {
  ...message,
  /** A user id, or `webhook:<id>`. */
  author: id,
  createdAt: time,
  quotedMessageId: oneOf(id, none),
  updatedAt: oneOf(time, none),
  pinnedAt: oneOf(time, none),
  /** Null when there are very many reactions. */
  secret: object({ ...texts, reactions: oneOf(reactions, none) }, bot),
} as const;

const reaction = {
  ...message,
  userId: id,
  /** Sequence number among all reactions ever added to the message. */
  place: count,
  /** Sequence number among the distinct reactions ever added. */
  sign: count,
  secret: object({ reaction: text }),
} as const;

const sealed = { subject: messageSubject, erased: EMPTY_CONTENT } as const;
const sealedWhole = { subject: messageSubject, erased: { ...EMPTY_CONTENT, reactions: null } } as const;
const sealedReaction = { subject: messageSubject, erased: { reaction: '' } } as const;

const content = { ...message, author: id, createdAt: time, quotedMessageId: oneOf(id, none), secret: body } as const;
const posted = event(object(content), { sealed });

export const messageEvents = {
  MessagePosted: posted,
  /** Precedes `ReplyPosted` of the thread, from where on readers see the reply. */
  ReplyWritten: posted,
  MessageEdited: event(object({ ...snapshot, by: id }), { sealed: sealedWhole }),
  MessagePinned: event(object({ ...snapshot, by: id }), { sealed: sealedWhole }),
  MessageUnpinned: event(object({ ...snapshot, by: id, unpinnedAt: time }), { sealed: sealedWhole }),
  MessageDeleted: event(
    object({
      ...message,
      author: id,
      by: id,
      deletedAt: time,
      /** Log position of `MessagePosted`, which is truncated later: pages `before` this message still need it. */
      postedPosition: id,
    }),
  ),
  ReactionAdded: event(object({ ...reaction, addedAt: time }), { sealed: sealedReaction }),
  ReactionRemoved: event(object({ ...reaction, removedAt: time }), { sealed: sealedReaction }),
} as const;

/** `messageId` is the message that the replies belong to. */
export const threadEvents = {
  ReplyPosted: event(object({ ...content, replyId: id, thread }), { sealed }),
  /** Null when no replies remain. */
  ReplyRemoved: event(object({ ...message, replyId: id, removedAt: time, thread: oneOf(thread, none) })),
  /** The message is being deleted, and takes no more replies. */
  ThreadClosed: event(object({ ...message, by: id, closedAt: time })),
} as const;
