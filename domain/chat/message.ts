/** A message or reply, with its reactions. Stream `chat.message-<id>`. */

import { type Decider, decideByType, type Evolve, notBefore, type Rejection, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { Requester } from './channels.js';
import { isDirect } from './events/channels.js';
import {
  contentOf,
  EMPTY_CONTENT,
  isEmpty,
  isSameContent,
  type MessageContent,
  type messageEvents,
  parentOf,
} from './events/messages.js';
import { addCount, atMost, type Counts, countOf, noCounts } from './limits.js';
import {
  eventReactions,
  findReaction,
  newReactionPlace,
  noReactions,
  type ReactionState,
  reactionLimitReached,
  tooManyReactions,
  withoutReaction,
  withReaction,
} from './reactions.js';

export interface MessageState {
  readonly status: 'none' | 'active' | 'deleted';
  readonly channelId: string;
  readonly author: string;
  readonly createdAt: number;
  readonly quotedMessageId: string | null;
  readonly updatedAt: number | null;
  readonly pinnedAt: number | null;
  readonly body: MessageContent;
  readonly reactions: ReactionState;
  readonly changes: Counts;
}

export type MessageCommand = { readonly messageId: string; readonly now: number } & (
  | { type: 'PostMessage'; channelId: string; author: string; body: MessageContent; quotedMessageId?: string | null }
  /** Absent members stay unchanged. */
  | { type: 'EditMessage'; by: string; body: Partial<MessageContent>; quotedMessageId?: string | null }
  | { type: 'DeleteMessage'; by: Requester; postedPosition: string }
  | { type: 'PinMessage' | 'UnpinMessage'; by: string }
  | { type: 'AddReaction' | 'RemoveReaction'; userId: string; reaction: string }
);

export type MessageEvent = ChatEvent<keyof typeof messageEvents>;

export const messageStream = (messageId: string): string => `chat.message-${messageId}`;

const initialState: MessageState = {
  status: 'none',
  channelId: '',
  author: '',
  createdAt: 0,
  quotedMessageId: null,
  updatedAt: null,
  pinnedAt: null,
  body: EMPTY_CONTENT,
  reactions: noReactions,
  changes: noCounts,
};

/** Edits, pins and reactions per user and message: every event is read with the message. */
export const MAX_CHANGES = 5000;

export const messageNotFound = rejection('chat/message-not-found', 'not-found', 'Message not found');
export const notAuthor = rejection('chat/not-the-author', 'forbidden', 'Only the author may do this');
const emptyMessage = rejection('chat/empty-message', 'invalid', 'A message needs content, an attachment or an image');
const replyNotPinned = rejection('chat/reply-not-pinned', 'invalid', 'Replies cannot be pinned');
export const notInDirect = (what: string): Rejection =>
  rejection('chat/not-in-direct-messages', 'invalid', `Direct messages ${what}`);
const tooManyChanges = atMost(
  'chat/too-many-changes-of-message',
  `${MAX_CHANGES} edits, pins and reactions per user in one message; post a new message`,
);

const limitReached = ({ changes }: MessageState, userId: string): boolean => countOf(changes, userId) >= MAX_CHANGES;

/** Whether a command creates the message. */
export const isPost = ({ type }: MessageCommand): boolean => type === 'PostMessage';

function wholeMessage(
  messageId: string,
  state: MessageState,
  change: Partial<Pick<MessageState, 'body' | 'quotedMessageId' | 'updatedAt' | 'pinnedAt'>>,
) {
  const { channelId, author, createdAt, quotedMessageId, updatedAt, pinnedAt, body } = { ...state, ...change };
  const secret = { ...body, reactions: eventReactions(state.reactions) };
  const message = { messageId, channelId, author, createdAt, quotedMessageId, updatedAt, pinnedAt };
  return { ...message, secret };
}

/** Why a message cannot be pinned or unpinned. */
function refusePin(messageId: string, { channelId }: MessageState): Rejection | undefined {
  if (isDirect(channelId)) return notInDirect('cannot be pinned');
  return parentOf(messageId) === undefined ? undefined : replyNotPinned;
}

const decideByState = decideByType<MessageState, MessageCommand, MessageEvent>({
  PostMessage({ messageId, channelId, author, body, quotedMessageId = null, now }, { status }) {
    // Its deletion may be all that is left of the stream, so that a repetition is not recognised.
    if (status === 'deleted') return messageNotFound;
    if (status !== 'none') return { rejected: 'chat/message-exists', kind: 'conflict' };
    if (isEmpty(body)) return emptyMessage;
    const data = { messageId, channelId, author, createdAt: now, quotedMessageId, secret: body };
    return [{ type: parentOf(messageId) === undefined ? 'MessagePosted' : 'ReplyWritten', data }];
  },
  EditMessage({ messageId, by, now, ...command }, state) {
    if (state.author !== by) return notAuthor;
    const { quotedMessageId = state.quotedMessageId } = command;
    const body = contentOf({ ...state.body, ...command.body });
    if (isEmpty(body)) return emptyMessage;
    if (quotedMessageId === state.quotedMessageId && isSameContent(body, state.body)) return [];
    if (limitReached(state, by)) return tooManyChanges;
    const updatedAt = notBefore(now, state.createdAt, state.updatedAt);
    const data = { ...wholeMessage(messageId, state, { body, quotedMessageId, updatedAt }), by };
    return [{ type: 'MessageEdited', data }];
  },
  DeleteMessage({ messageId, by, now: deletedAt, postedPosition }, { channelId, author }) {
    if (author !== by.userId && !by.isAdmin) return notAuthor;
    const data = { messageId, channelId, author, by: by.userId, deletedAt, postedPosition };
    return [{ type: 'MessageDeleted', data }];
  },
  PinMessage({ messageId, by, now }, state) {
    const refusal = refusePin(messageId, state);
    if (refusal) return refusal;
    if (state.pinnedAt !== null) return [];
    if (limitReached(state, by)) return tooManyChanges;
    const pinnedAt = notBefore(now, state.createdAt);
    return [{ type: 'MessagePinned', data: { ...wholeMessage(messageId, state, { pinnedAt }), by } }];
  },
  UnpinMessage({ messageId, by, now }, state) {
    const refusal = refusePin(messageId, state);
    if (refusal) return refusal;
    if (state.pinnedAt === null) return [];
    const data = { ...wholeMessage(messageId, state, { pinnedAt: null }), by, unpinnedAt: now };
    return [{ type: 'MessageUnpinned', data }];
  },
  AddReaction({ messageId, userId, reaction, now }, state) {
    const { channelId, reactions } = state;
    if (findReaction(reactions, reaction, userId)) return [];
    if (reactionLimitReached(reactions, userId)) return tooManyReactions;
    if (limitReached(state, userId)) return tooManyChanges;
    const place = newReactionPlace(reactions, reaction, userId);
    return [{ type: 'ReactionAdded', data: { messageId, channelId, ...place, addedAt: now, secret: { reaction } } }];
  },
  RemoveReaction({ messageId, userId, reaction, now }, { channelId, reactions }) {
    const place = findReaction(reactions, reaction, userId);
    if (!place) return [];
    return [
      { type: 'ReactionRemoved', data: { messageId, channelId, ...place, removedAt: now, secret: { reaction } } },
    ];
  },
});

const decide = (command: MessageCommand, state: MessageState): readonly MessageEvent[] | Rejection =>
  state.status === 'active' || isPost(command) ? decideByState(command, state) : messageNotFound;

const posted = (
  _: MessageState,
  { channelId, author, createdAt, quotedMessageId, secret }: ChatEvent<'MessagePosted'>['data'],
): MessageState => ({
  ...initialState,
  status: 'active',
  channelId,
  author,
  createdAt,
  quotedMessageId,
  body: contentOf(secret),
});

const evolve: Evolve<MessageState, MessageEvent> = {
  MessagePosted: posted,
  ReplyWritten: posted,
  MessageEdited: (state, { by, quotedMessageId, updatedAt, secret }) => ({
    ...state,
    changes: addCount(state.changes, by),
    quotedMessageId,
    updatedAt,
    body: contentOf(secret),
  }),
  MessagePinned: (state, { by, pinnedAt }) => ({ ...state, changes: addCount(state.changes, by), pinnedAt }),
  MessageUnpinned: (state) => ({ ...state, pinnedAt: null }),
  MessageDeleted: (_, { channelId }) => ({ ...initialState, status: 'deleted', channelId }),
  ReactionAdded: (state, { secret, ...place }) => ({
    ...state,
    changes: addCount(state.changes, place.userId),
    reactions: withReaction(state.reactions, secret.reaction, place),
  }),
  ReactionRemoved: (state, { secret, userId }) => ({
    ...state,
    reactions: withoutReaction(state.reactions, secret.reaction, userId),
  }),
};

export const message: Decider<MessageState, MessageCommand, MessageEvent> = { initialState, decide, evolve };
