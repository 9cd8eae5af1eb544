/** What happens to a message, in a channel or between two, and in its thread. */
import { type DataOf, event, object, oneOf } from '../../shared/index.js';
import { conversationSubject, isDirect } from '../conversation-id.js';
import { channelSubject } from './channels.js';
import { count, id, text, time } from './words.js';

/** Sealed under the key of where it is said: a direct message's `channelId` is its conversation's id. */
const subject = ({ channelId }: { readonly channelId: string }): string =>
  isDirect(channelId) ? conversationSubject(channelId) : channelSubject({ channelId });

const none = { type: 'null' } as const;
const ids = { type: 'array', items: id } as const;

/** A file as it was uploaded. */
export const attachment = object({ filename: id, originalName: text, contentType: text, size: count });
export type Attachment = DataOf<typeof attachment>;

const texts = {
  content: text,
  attachments: { type: 'array', items: attachment },
  /** Stored names of uploaded images. */
  images: { type: 'array', items: id },
  /** Ids of users, or `@channel` and `@here`. */
  mentions: ids,
} as const;
/** What a webhook was called that said it. */
const bot = { botName: text } as const;

const said = object(texts, bot);
/** What somebody says: its texts, what hangs on it, and who is called by it. */
export type MessageContent = DataOf<typeof said>;

export const EMPTY_CONTENT = { content: '', attachments: [], images: [], mentions: [] } as const;

/** Reaction to those who reacted so, in the order in which they did. */
const reactions = { type: 'object', additionalProperties: ids } as const;
export type Reactions = DataOf<typeof reactions>;

const thread = object({ replyCount: count, lastReplyAt: time, lastReplyBy: id, participants: ids });
/** Of the replies to a message. `participants`: of very many the first who came. */
export type Thread = DataOf<typeof thread>;

const message = { messageId: id, channelId: id } as const;

/** The whole message as it stands after the event: whoever tells of it knows no other. */
const standing = {
  ...message,
  /** A user's id, or `webhook:<id>`. */
  author: id,
  createdAt: time,
  quotedMessageId: oneOf(id, none),
  updatedAt: oneOf(time, none),
  pinnedAt: oneOf(time, none),
  thread: oneOf(thread, none),
  /** Very many reactions are left out. */
  secret: object({ ...texts, reactions: oneOf(reactions, none) }, bot),
} as const;

const reply = {
  ...message,
  replyId: id,
  author: id,
  createdAt: time,
  quotedMessageId: oneOf(id, none),
} as const;

const reaction = {
  ...message,
  userId: id,
  /** Counted over all reactions to the message that ever were. */
  place: count,
  /** Which reaction it is, counted over those that ever were different. */
  sign: count,
  secret: object({ reaction: text }),
} as const;

const sealed = { subject, erased: EMPTY_CONTENT } as const;
const sealedWhole = { subject, erased: { ...EMPTY_CONTENT, reactions: null } } as const;
const sealedReaction = { subject, erased: { reaction: '' } } as const;

export const messageEvents = {
  MessagePosted: event(
    object({
      ...message,
      author: id,
      createdAt: time,
      quotedMessageId: oneOf(id, none),
      secret: said,
    }),
    { sealed },
  ),
  MessageEdited: event(object({ ...standing, by: id }), { sealed: sealedWhole }),
  MessagePinned: event(object({ ...standing, by: id }), { sealed: sealedWhole }),
  MessageUnpinned: event(object({ ...standing, by: id, unpinnedAt: time }), { sealed: sealedWhole }),
  MessageDeleted: event(
    object({
      ...message,
      author: id,
      by: id,
      deletedAt: time,
      /** Log position of `MessagePosted`, which leaves the log: pages of older messages still find the place. */
      postedPosition: id,
    }),
  ),
  ReactionAdded: event(object({ ...reaction, addedAt: time }), { sealed: sealedReaction }),
  ReactionRemoved: event(object({ ...reaction, removedAt: time }), { sealed: sealedReaction }),
  ReplyPosted: event(object({ ...reply, thread, secret: said }), { sealed }),
  ReplyEdited: event(object({ ...reply, by: id, editedAt: time, thread, secret: said }), { sealed }),
  ReplyDeleted: event(
    object({
      ...message,
      replyId: id,
      author: id,
      by: id,
      deletedAt: time,
      /** Without replies there is none. */
      thread: oneOf(thread, none),
    }),
  ),
} as const;
