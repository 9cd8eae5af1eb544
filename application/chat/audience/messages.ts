/** Delivers events of messages, reactions and threads to those who may see the channel or conversation. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isDirect, participantsOf } from '../../../domain/chat/events/conversations.js';
import type { MessageEvent } from '../../../domain/chat/message.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery } from '../../subscription/index.js';
import { messageAfter, messageView, replyView, threadView } from '../messages/message-view.js';
import { toViewers } from './channels.js';
import { type ChatState, userKey } from './state.js';

type Routing = Audience<ChatState, MessageEvent>['on'];
type Of<Type extends MessageEvent['type']> = RevealedEvent<ChatEvent<Type>>;

/** Addresses a payload to everyone who may see it; direct messages also carry their participants. */
function broadcast(state: ChatState, channelId: string, type: string, payload: object): readonly Delivery[] {
  if (!isDirect(channelId)) {
    const to = toViewers(state, channelId);
    return to.to.length > 0 ? [{ ...to, message: { type, payload } }] : [];
  }
  const participants = participantsOf(channelId) ?? [];
  const direct = { ...payload, conversationId: channelId, participants };
  return [{ to: participants.map(userKey), message: { type, payload: direct } }];
}

const messageType = (what: 'NEW' | 'UPDATE' | 'DELETE', channelId: string) =>
  isDirect(channelId) ? `${what}_DM_MESSAGE` : `${what}_MESSAGE`;

/** Events that hold the whole message. */
function deliverMessage(
  event: Of<'MessagePosted' | 'MessageEdited' | 'MessagePinned' | 'MessageUnpinned'>,
  state: ChatState,
): readonly Delivery[] {
  const message = messageAfter(undefined, event);
  if (event.erased || !message) return [];
  const { channelId } = message;
  const type = messageType(event.type === 'MessagePosted' ? 'NEW' : 'UPDATE', channelId);
  return broadcast(state, channelId, type, messageView(state.roster, message));
}

function deliverReaction(
  { type, data, erased }: Of<'ReactionAdded' | 'ReactionRemoved'>,
  state: ChatState,
): readonly Delivery[] {
  if (erased) return [];
  const { messageId, channelId, userId, secret } = data;
  const name = type === 'ReactionAdded' ? 'NEW_REACTION' : 'DELETE_REACTION';
  return broadcast(state, channelId, name, { messageId, channelId, userId, reaction: secret.reaction });
}

function deliverReply(
  { type, data, erased }: Of<'ReplyPosted' | 'ReplyEdited'>,
  state: ChatState,
): readonly Delivery[] {
  if (erased) return [];
  const { messageId: threadId, replyId: id, channelId, author, createdAt, quotedMessageId } = data;
  const updatedAt = 'editedAt' in data ? data.editedAt : null;
  const snapshot = { id, threadId, channelId, author, createdAt, updatedAt, quotedMessageId };
  const reply = replyView(state.roster, { ...snapshot, body: data.secret });
  const threadMeta = threadView(state.roster, data.thread);
  const payload = { ...reply, parentMessageId: threadId, threadMeta };
  return type === 'ReplyPosted'
    ? broadcast(state, channelId, 'NEW_THREAD_REPLY', { ...payload, reply })
    : broadcast(state, channelId, 'UPDATE_THREAD_REPLY', payload);
}

export const messagesOn: Routing = {
  MessagePosted: { deliver: deliverMessage },
  MessageEdited: { deliver: deliverMessage },
  MessagePinned: { deliver: deliverMessage },
  MessageUnpinned: { deliver: deliverMessage },
  MessageDeleted: {
    deliver: ({ data: { messageId: id, channelId } }, state) =>
      broadcast(state, channelId, messageType('DELETE', channelId), { id, channelId }),
  },
  ReactionAdded: { deliver: deliverReaction },
  ReactionRemoved: { deliver: deliverReaction },
  ReplyPosted: { deliver: deliverReply },
  ReplyEdited: { deliver: deliverReply },
  ReplyDeleted: {
    deliver({ data: { messageId: threadId, replyId: id, channelId, thread } }, state) {
      const threadMeta = thread && threadView(state.roster, thread);
      const payload = { id, threadId, parentMessageId: threadId, channelId, threadMeta };
      return broadcast(state, channelId, 'DELETE_THREAD_REPLY', payload);
    },
  },
};
