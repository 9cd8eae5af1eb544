/** What is told of messages, reactions and threads: to those who see the channel, or to the two whose conversation it is. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isDirect, participantsOf } from '../../../domain/chat/conversation-id.js';
import type { MessageEvent } from '../../../domain/chat/message.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery } from '../../subscription/index.js';
import { messageView, replyView, threadView } from '../view-models.js';
import { toSeers } from './channels.js';
import { type ChatState, userKey } from './state.js';

type On = Audience<ChatState, MessageEvent>['on'];
type Of<Type extends MessageEvent['type']> = RevealedEvent<ChatEvent<Type>>;

/** `payload` as it is told where it was said: between two it says who they are. */
function told(state: ChatState, channelId: string, type: string, payload: object): readonly Delivery[] {
  if (!isDirect(channelId)) {
    const to = toSeers(state, channelId);
    return to.to.length > 0 ? [{ ...to, message: { type, payload } }] : [];
  }
  const participants = participantsOf(channelId) ?? [];
  const direct = { ...payload, conversationId: channelId, participants };
  return [{ to: participants.map(userKey), message: { type, payload: direct } }];
}

const named = (what: 'NEW' | 'UPDATE' | 'DELETE', channelId: string) =>
  isDirect(channelId) ? `${what}_DM_MESSAGE` : `${what}_MESSAGE`;

function posted({ data, erased }: Of<'MessagePosted'>, state: ChatState): readonly Delivery[] {
  if (erased) return [];
  const { messageId: id, secret: said, ...rest } = data;
  const fresh = { updatedAt: null, pinnedAt: null, reactions: {}, thread: null };
  const payload = messageView(state.roster, { id, ...rest, ...fresh, said });
  return told(state, data.channelId, named('NEW', data.channelId), payload);
}

function changed(
  { data, erased }: Of<'MessageEdited' | 'MessagePinned' | 'MessageUnpinned'>,
  state: ChatState,
): readonly Delivery[] {
  if (erased) return [];
  const { messageId: id, secret, ...rest } = data;
  const { reactions, ...said } = secret;
  const payload = messageView(state.roster, { id, ...rest, said, reactions });
  return told(state, data.channelId, named('UPDATE', data.channelId), payload);
}

function reacted(
  { type, data, erased }: Of<'ReactionAdded' | 'ReactionRemoved'>,
  state: ChatState,
): readonly Delivery[] {
  if (erased) return [];
  const { messageId, channelId, userId, secret } = data;
  const name = type === 'ReactionAdded' ? 'NEW_REACTION' : 'DELETE_REACTION';
  return told(state, channelId, name, { messageId, channelId, userId, reaction: secret.reaction });
}

function replied({ type, data, erased }: Of<'ReplyPosted' | 'ReplyEdited'>, state: ChatState): readonly Delivery[] {
  if (erased) return [];
  const { messageId: threadId, replyId: id, channelId, author, createdAt, quotedMessageId } = data;
  const updatedAt = 'editedAt' in data ? data.editedAt : null;
  const written = { id, threadId, channelId, author, createdAt, updatedAt, quotedMessageId };
  const reply = replyView(state.roster, { ...written, said: data.secret });
  const threadMeta = threadView(state.roster, data.thread);
  const whole = { ...reply, parentMessageId: threadId, threadMeta };
  return type === 'ReplyPosted'
    ? told(state, channelId, 'NEW_THREAD_REPLY', { ...whole, reply })
    : told(state, channelId, 'UPDATE_THREAD_REPLY', whole);
}

export const messagesOn: On = {
  MessagePosted: { deliver: posted },
  MessageEdited: { deliver: changed },
  MessagePinned: { deliver: changed },
  MessageUnpinned: { deliver: changed },
  MessageDeleted: {
    deliver: ({ data: { messageId: id, channelId } }, state) =>
      told(state, channelId, named('DELETE', channelId), { id, channelId }),
  },
  ReactionAdded: { deliver: reacted },
  ReactionRemoved: { deliver: reacted },
  ReplyPosted: { deliver: replied },
  ReplyEdited: { deliver: replied },
  ReplyDeleted: {
    deliver({ data: { messageId: threadId, replyId: id, channelId, thread } }, state) {
      const threadMeta = thread && threadView(state.roster, thread);
      const payload = { id, threadId, parentMessageId: threadId, channelId, threadMeta };
      return told(state, channelId, 'DELETE_THREAD_REPLY', payload);
    },
  },
};
