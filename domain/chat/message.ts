/** A message with its reactions and its thread. Stream `chat.message-<id>`. */
import { type Decider, type Evolve, notBefore, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { Requester } from './channels.js';
import { isDirect } from './conversation-id.js';
import { type Changes, changedBy, limitReached, noChanges, tooManyChanges } from './edit-limit.js';
import { EMPTY_CONTENT, type MessageContent } from './events/messages.js';
import { contentOf, isEmpty, isSame } from './message-content.js';
import {
  empty,
  messageNotFound,
  notAuthor,
  notInDirect,
  replyChanged,
  tooManyReactions,
  tooManyReplies,
} from './message-rejections.js';
import {
  hasEnough,
  nextPlace,
  noReactions,
  placeOf,
  type Reacting,
  toldReactions,
  withoutReaction,
  withReaction,
} from './reactions.js';
import {
  hasRepliedEnough,
  noReplies,
  type Replies,
  type ReplyEdit,
  replyWith,
  threadOf,
  withoutReply,
  withReply,
} from './thread.js';

export interface MessageState {
  readonly status: 'none' | 'there' | 'deleted';
  /** Or the id of a conversation. */
  readonly channelId: string;
  readonly author: string;
  readonly createdAt: number;
  readonly quotedMessageId: string | null;
  readonly updatedAt: number | null;
  readonly pinnedAt: number | null;
  readonly said: MessageContent;
  readonly reacting: Reacting;
  readonly replies: Replies;
  /** How often replies of it were edited. */
  readonly edits: number;
  /** How often each user edited or pinned it, or edited a reply. */
  readonly changes: Changes;
}

interface WithContent {
  readonly said: MessageContent;
  readonly quotedMessageId?: string | null;
}

interface CommandBase {
  readonly messageId: string;
  readonly now: number;
}

export type MessageCommand =
  | ({ type: 'PostMessage'; channelId: string; author: string } & WithContent & CommandBase)
  /** What is not said stays as it is. */
  | ({
      type: 'EditMessage';
      by: string;
      said: Partial<MessageContent>;
      quotedMessageId?: string | null;
    } & CommandBase)
  | ({ type: 'DeleteMessage'; by: Requester; postedPosition: string } & CommandBase)
  | ({ type: 'PinMessage' | 'UnpinMessage'; by: string } & CommandBase)
  | ({ type: 'AddReaction' | 'RemoveReaction'; userId: string; reaction: string } & CommandBase)
  | ({ type: 'PostReply'; replyId: string; author: string } & WithContent & CommandBase)
  | ({ type: 'EditReply'; replyId: string; by: string; edit: ReplyEdit } & CommandBase)
  | ({ type: 'DeleteReply'; replyId: string; by: Requester } & CommandBase);

type Command<Type extends MessageCommand['type']> = Extract<MessageCommand, { type: Type }>;
type Outcome = readonly MessageEvent[] | Rejection;

export type MessageEvent = ChatEvent<
  | 'MessagePosted'
  | 'MessageEdited'
  | 'MessagePinned'
  | 'MessageUnpinned'
  | 'MessageDeleted'
  | 'ReactionAdded'
  | 'ReactionRemoved'
  | 'ReplyPosted'
  | 'ReplyEdited'
  | 'ReplyDeleted'
>;

export const messageStream = (messageId: string): string => `chat.message-${messageId}`;

const initialState: MessageState = {
  status: 'none',
  channelId: '',
  author: '',
  createdAt: 0,
  quotedMessageId: null,
  updatedAt: null,
  pinnedAt: null,
  said: EMPTY_CONTENT,
  reacting: noReactions,
  replies: noReplies,
  edits: 0,
  changes: noChanges,
};

export { messageNotFound, notAuthor, notInDirect, replyChanged };

function decide(command: MessageCommand, state: MessageState): Outcome {
  if (command.type === 'PostMessage') return post(command, state);
  if (state.status !== 'there') return messageNotFound;
  switch (command.type) {
    case 'EditMessage':
      return edit(command, state);
    case 'DeleteMessage':
      return remove(command, state);
    case 'PinMessage':
      return pin(command, state);
    case 'UnpinMessage':
      return unpin(command, state);
    case 'AddReaction':
      return react(command, state);
    case 'RemoveReaction':
      return unreact(command, state);
    case 'PostReply':
      return postReply(command, state);
    case 'EditReply':
      return editReply(command, state);
    case 'DeleteReply':
      return removeReply(command, state);
  }
}

function post(command: Command<'PostMessage'>, { status }: MessageState): Outcome {
  if (status !== 'none') return { rejected: 'chat/message-exists', kind: 'conflict' };
  const { messageId, channelId, author, said, quotedMessageId = null, now } = command;
  if (isEmpty(said)) return empty;
  const data = { messageId, channelId, author, createdAt: now, quotedMessageId, secret: said };
  return [{ type: 'MessagePosted', data }];
}

/** The message as it stands, with what is changed of it. */
function standing(
  messageId: string,
  state: MessageState,
  change: Partial<Pick<MessageState, 'said' | 'quotedMessageId' | 'updatedAt' | 'pinnedAt'>>,
) {
  const { channelId, author, createdAt, quotedMessageId, updatedAt, pinnedAt, said } = {
    ...state,
    ...change,
  };
  const secret = { ...said, reactions: toldReactions(state.reacting) };
  const thread = threadOf(state.replies);
  const message = { messageId, channelId, author, createdAt, quotedMessageId, updatedAt, pinnedAt };
  return { ...message, thread, secret };
}

function edit(command: Command<'EditMessage'>, state: MessageState): Outcome {
  const { messageId, by, quotedMessageId = state.quotedMessageId, now } = command;
  if (state.author !== by) return notAuthor;
  const said = contentOf({ ...state.said, ...command.said });
  if (isEmpty(said)) return empty;
  if (quotedMessageId === state.quotedMessageId && isSame(said, state.said)) return [];
  if (limitReached(state.changes, by)) return tooManyChanges;
  const updatedAt = notBefore(now, state.createdAt, state.updatedAt);
  const data = { ...standing(messageId, state, { said, quotedMessageId, updatedAt }), by };
  return [{ type: 'MessageEdited', data }];
}

function remove(command: Command<'DeleteMessage'>, { channelId, author }: MessageState): Outcome {
  const { messageId, by, now: deletedAt, postedPosition } = command;
  if (author !== by.userId && !by.isAdmin) return notAuthor;
  const data = { messageId, channelId, author, by: by.userId, deletedAt, postedPosition };
  return [{ type: 'MessageDeleted', data }];
}

function pin({ messageId, by, now }: Command<'PinMessage' | 'UnpinMessage'>, state: MessageState): Outcome {
  if (isDirect(state.channelId)) return notInDirect('cannot be pinned');
  if (state.pinnedAt !== null) return [];
  if (limitReached(state.changes, by)) return tooManyChanges;
  const pinnedAt = notBefore(now, state.createdAt);
  return [{ type: 'MessagePinned', data: { ...standing(messageId, state, { pinnedAt }), by } }];
}

function unpin({ messageId, by, now }: Command<'PinMessage' | 'UnpinMessage'>, state: MessageState): Outcome {
  if (isDirect(state.channelId)) return notInDirect('cannot be pinned');
  if (state.pinnedAt === null) return [];
  const data = { ...standing(messageId, state, { pinnedAt: null }), by, unpinnedAt: now };
  return [{ type: 'MessageUnpinned', data }];
}

type Reaction = Command<'AddReaction' | 'RemoveReaction'>;

function react({ messageId, userId, reaction, now }: Reaction, { channelId, reacting }: MessageState): Outcome {
  if (placeOf(reacting, reaction, userId)) return [];
  if (hasEnough(reacting, userId)) return tooManyReactions;
  const placed = nextPlace(reacting, reaction, userId);
  const data = { messageId, channelId, ...placed, addedAt: now, secret: { reaction } };
  return [{ type: 'ReactionAdded', data }];
}

function unreact({ messageId, userId, reaction, now }: Reaction, { channelId, reacting }: MessageState): Outcome {
  const placed = placeOf(reacting, reaction, userId);
  if (!placed) return [];
  const data = { messageId, channelId, ...placed, removedAt: now, secret: { reaction } };
  return [{ type: 'ReactionRemoved', data }];
}

function postReply(command: Command<'PostReply'>, { channelId, replies }: MessageState): Outcome {
  const { messageId, replyId, author, said, quotedMessageId = null, now: createdAt } = command;
  if (isDirect(channelId)) return notInDirect('have no threads');
  if (isEmpty(said)) return empty;
  if (hasRepliedEnough(replies, author)) return tooManyReplies;
  const thread = threadOf(withReply(replies, replyId, { author, createdAt }))!;
  const reply = { messageId, channelId, replyId, author, createdAt, quotedMessageId };
  return [{ type: 'ReplyPosted', data: { ...reply, thread, secret: said } }];
}

function editReply(command: Command<'EditReply'>, state: MessageState): Outcome {
  const { channelId, replies, edits } = state;
  const { messageId, replyId, by, now, edit } = command;
  const reply = replyWith(replies, replyId);
  if (!reply) return messageNotFound;
  const { author, createdAt } = reply;
  if (author !== by) return notAuthor;
  if (edit.edits !== edits) return replyChanged;
  const { said, quotedMessageId } = edit.to;
  if (isEmpty(said)) return empty;
  if (quotedMessageId === edit.from.quotedMessageId && isSame(contentOf(said), contentOf(edit.from.said))) return [];
  if (limitReached(state.changes, by)) return tooManyChanges;
  const thread = threadOf(replies)!;
  const editedAt = notBefore(now, createdAt);
  const written = { messageId, channelId, replyId, author, createdAt, quotedMessageId };
  return [{ type: 'ReplyEdited', data: { ...written, by, editedAt, thread, secret: said } }];
}

function removeReply(command: Command<'DeleteReply'>, { channelId, replies }: MessageState): Outcome {
  const { messageId, replyId, by, now: deletedAt } = command;
  const reply = replyWith(replies, replyId);
  if (!reply) return messageNotFound;
  const { author } = reply;
  if (author !== by.userId && !by.isAdmin) return notAuthor;
  const thread = threadOf(withoutReply(replies, replyId));
  const data = { messageId, channelId, replyId, author, by: by.userId, deletedAt, thread };
  return [{ type: 'ReplyDeleted', data }];
}

const evolve: Evolve<MessageState, MessageEvent> = {
  MessagePosted: (_, { channelId, author, createdAt, quotedMessageId, secret }) => ({
    ...initialState,
    status: 'there',
    channelId,
    author,
    createdAt,
    quotedMessageId,
    said: contentOf(secret),
  }),
  MessageEdited: (state, { by, quotedMessageId, updatedAt, secret }) => ({
    ...state,
    changes: changedBy(state.changes, by),
    quotedMessageId,
    updatedAt,
    said: contentOf(secret),
  }),
  MessagePinned: (state, { by, pinnedAt }) => ({ ...state, changes: changedBy(state.changes, by), pinnedAt }),
  MessageUnpinned: (state) => ({ ...state, pinnedAt: null }),
  MessageDeleted: (_, { channelId }) => ({ ...initialState, status: 'deleted', channelId }),
  ReactionAdded: (state, { secret, ...placed }) => ({
    ...state,
    reacting: withReaction(state.reacting, secret.reaction, placed),
  }),
  ReactionRemoved: (state, { secret, place }) => ({
    ...state,
    reacting: withoutReaction(state.reacting, secret.reaction, { place }),
  }),
  ReplyPosted: (state, { replyId, author, createdAt }) => ({
    ...state,
    replies: withReply(state.replies, replyId, { author, createdAt }),
  }),
  ReplyEdited: (state, { by }) => ({
    ...state,
    changes: changedBy(state.changes, by),
    edits: state.edits + 1,
  }),
  ReplyDeleted: (state, { replyId }) => ({ ...state, replies: withoutReply(state.replies, replyId) }),
};

export const message: Decider<MessageState, MessageCommand, MessageEvent> = { initialState, decide, evolve };
