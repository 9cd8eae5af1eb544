/** Audience of the chat: who may see which event, and when a client's stream ends. */
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { type Channel, type ChannelsEvent, canSee, channels } from '../../../domain/chat/channels.js';
import { isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { parentOf, type Thread } from '../../../domain/chat/events/messages.js';
import { userById } from '../../../domain/chat/roster.js';
import { evolveOf } from '../../../domain/shared/index.js';
import type { RevealedEvent } from '../../ports/index.js';
import { type Audience, advance, type Delivery, handleByType, type StreamControl } from '../../subscription/index.js';
import { conversationView } from '../channels/conversations.js';
import { type MessageChange, messageAfter, messageView, postedMessage, threadView } from '../messages/message-view.js';
import type { Caller } from '../sign-in/authenticate.js';
import { channelMessage, deletionMessage, rosterOn } from './roster.js';
import { type ChatState, EVERYBODY, initialState, sessionKey, snapshot, userKey } from './state.js';

export type { ChatState } from './state.js';

const foldChannels = evolveOf(channels);
const evolve = (state: ChatState, event: RevealedEvent<ChannelsEvent>): ChatState => ({
  ...state,
  channels: foldChannels(state.channels, event),
  reached: advance(state.reached, event),
});

/** Keys of the users who may see a channel; undefined for everyone. */
function viewersOf({ admins }: ChatState, channel: Channel | undefined): readonly string[] | undefined {
  if (!channel) return [];
  return channel.isPrivate ? [...new Set([...channel.members, ...admins])].map(userKey) : undefined;
}

/** Delivers to everyone who may see the channel now; to no one when it does not exist. */
function toViewers(state: ChatState, channelId: string, delivery: Omit<Delivery, 'to'>): readonly Delivery[] {
  const to = viewersOf(state, state.channels.channels.get(channelId)) ?? [EVERYBODY];
  return to.length > 0 ? [{ to, resource: channelId, ...delivery }] : [];
}

function deliverChange(
  { data: { channelId } }: RevealedEvent<ChannelsEvent>,
  after: ChatState,
  before: ChatState,
): readonly Delivery[] {
  const [was, is] = [before.channels.channels.get(channelId), after.channels.channels.get(channelId)];
  const [saw, see] = [viewersOf(before, was), viewersOf(after, is)];
  const deliveries: Delivery[] = [];
  const resource = channelId;
  if (is) {
    if (was)
      deliveries.push({ ...intersect(saw, see), resource, message: channelMessage(after, 'UPDATE_CHANNEL', is) });
    deliveries.push({ ...subtract(see, saw), resource, message: channelMessage(after, 'NEW_CHANNEL', is) });
  }
  // Without the channel as its resource, as those who lost sight of the channel before its deletion must see it too.
  if (was)
    deliveries.push({
      ...subtract(saw, see),
      message: deletionMessage(was),
      ...(!is && { erases: channelId }),
    });
  return deliveries.filter(({ to }) => to.length > 0);
}

type Keys = readonly string[] | undefined;

function intersect(a: Keys, b: Keys): Pick<Delivery, 'to'> {
  if (!a || !b) return { to: a ?? b ?? [EVERYBODY] };
  const others = new Set(b);
  return { to: a.filter((key) => others.has(key)) };
}

function subtract(these: Keys, others: Keys): Pick<Delivery, 'to' | 'except'> {
  if (!others) return { to: [] };
  if (!these) return { to: [EVERYBODY], except: others };
  const excluded = new Set(others);
  return { to: these.filter((key) => !excluded.has(key)) };
}

const channelsOn: Audience<ChatState, ChannelsEvent>['on'] = {
  ChannelCreated: { evolve, deliver: deliverChange },
  ChannelUpdated: { evolve, deliver: deliverChange },
  ChannelDeleted: { evolve, deliver: deliverChange },
  ChannelErased: { evolve },
  WebhookCreated: {
    evolve,
    deliver({ data: { webhookId: id, channelId, createdAt, createdBy, secret }, erased }, state) {
      const payload = { id, name: secret.name, channelId, createdAt, createdBy };
      return erased ? [] : toViewers(state, channelId, { message: { type: 'NEW_WEBHOOK', payload } });
    },
  },
  WebhookDeleted: {
    evolve,
    deliver: ({ data: { webhookId: id, channelId } }, state) =>
      toViewers(state, channelId, { message: { type: 'DELETE_WEBHOOK', payload: { id, channelId } } }),
  },
};

/** Whether a missed delivery may still be sent: the user must see its channel now. */
export function isEntitled({ resource }: Delivery, now: ChatState, userId: string): boolean {
  if (resource === undefined) return true;
  const channel = now.channels.channels.get(resource);
  const isAdmin = userById(now.roster, userId)?.isAdmin ?? false;
  return channel !== undefined && canSee(channel, { userId, isAdmin });
}

type Of<Type extends MessageChange['type']> = RevealedEvent<ChatEvent<Type>>;

/** Summary of a thread as of the event that is being delivered; null without replies. */
export type DeliveredThread = (threadId: string) => Thread | null;

/**
 * Addresses a payload to everyone who may see it; direct messages also carry their participants. `content`: the messages
 * that it shows, or the one that it erases.
 */
function broadcast(
  state: ChatState,
  channelId: string,
  { type, payload }: { readonly type: string; readonly payload: object },
  content: Pick<Delivery, 'shows' | 'erases'>,
): readonly Delivery[] {
  if (!isDirect(channelId)) return toViewers(state, channelId, { ...content, message: { type, payload } });
  const participants = participantsOf(channelId) ?? [];
  const direct = { ...payload, conversationId: channelId, participants };
  return [{ to: participants.map(userKey), ...content, message: { type, payload: direct } }];
}

/** A message, and its parent if it is a reply: both may be deleted. */
const showing = (id: string): Pick<Delivery, 'shows'> => ({ shows: [id, parentOf(id) ?? id] });

const messageType = (what: 'NEW' | 'UPDATE' | 'DELETE', channelId: string) =>
  isDirect(channelId) ? `${what}_DM_MESSAGE` : `${what}_MESSAGE`;

function messagesOn(deliveredThread: DeliveredThread): Audience<ChatState, MessageChange>['on'] {
  /** Events that hold the whole message. */
  function deliverMessage(
    event: Of<'MessagePosted' | 'MessageEdited' | 'MessagePinned' | 'MessageUnpinned'>,
    state: ChatState,
  ): readonly Delivery[] {
    const message = messageAfter(event.data.messageId, undefined, event);
    if (event.erased || !message) return [];
    const { id, channelId } = message;
    const parentMessageId = parentOf(id);
    if (parentMessageId === undefined) {
      const isNew = event.type === 'MessagePosted';
      const thread = isNew ? null : deliveredThread(id);
      const type = messageType(isNew ? 'NEW' : 'UPDATE', channelId);
      const payload = messageView(state.roster, { ...message, thread });
      return broadcast(state, channelId, { type, payload }, showing(id));
    }
    const thread = deliveredThread(parentMessageId);
    // The thread has been closed.
    if (!thread) return [];
    const threadMeta = threadView(state.roster, thread);
    const payload = { ...messageView(state.roster, message), parentMessageId, threadMeta };
    return broadcast(state, channelId, { type: 'UPDATE_THREAD_REPLY', payload }, showing(id));
  }

  function deliverReaction(
    { type, data, erased }: Of<'ReactionAdded' | 'ReactionRemoved'>,
    state: ChatState,
  ): readonly Delivery[] {
    const { messageId, channelId, userId, secret } = data;
    const parent = parentOf(messageId);
    if (erased || (parent !== undefined && !deliveredThread(parent))) return [];
    const payload = { messageId, channelId, userId, reaction: secret.reaction };
    const message = { type: type === 'ReactionAdded' ? 'NEW_REACTION' : 'DELETE_REACTION', payload };
    return broadcast(state, channelId, message, showing(messageId));
  }

  return {
    MessagePosted: { deliver: deliverMessage },
    // The event of its thread delivers it.
    ReplyWritten: {},
    MessageEdited: { deliver: deliverMessage },
    MessagePinned: { deliver: deliverMessage },
    MessageUnpinned: { deliver: deliverMessage },
    MessageDeleted: {
      deliver: ({ data: { messageId: id, channelId } }, state) =>
        parentOf(id) === undefined
          ? broadcast(
              state,
              channelId,
              { type: messageType('DELETE', channelId), payload: { id, channelId } },
              { erases: id },
            )
          : [],
    },
    ReactionAdded: { deliver: deliverReaction },
    ReactionRemoved: { deliver: deliverReaction },
    ReplyPosted: {
      deliver({ data, erased }, state) {
        if (erased) return [];
        const { messageId: parentMessageId, channelId, thread } = data;
        const reply = messageView(state.roster, postedMessage(data));
        const threadMeta = threadView(state.roster, thread);
        const payload = { ...reply, parentMessageId, threadMeta, reply };
        return broadcast(state, channelId, { type: 'NEW_THREAD_REPLY', payload }, showing(data.replyId));
      },
    },
    ReplyRemoved: {
      deliver({ data: { messageId: threadId, replyId: id, channelId, thread } }, state) {
        const threadMeta = thread && threadView(state.roster, thread);
        const payload = { id, threadId, parentMessageId: threadId, channelId, threadMeta };
        return broadcast(state, channelId, { type: 'DELETE_THREAD_REPLY', payload }, { erases: id });
      },
    },
    ThreadClosed: {},
  };
}

export const chatAudience = (deliveredThread: DeliveredThread): Audience<ChatState, ChatEvent> => ({
  initialState,
  cursors: ({ reached }) => reached,
  snapshot,
  on: {
    ...rosterOn,
    ...channelsOn,
    ...messagesOn(deliveredThread),
    ConversationStarted: {
      deliver: ({ data: { conversationId: id, participants, startedAt: createdAt } }, { roster }) =>
        participants.map((each) => ({
          to: [userKey(each)],
          message: {
            type: 'NEW_CONVERSATION',
            payload: conversationView(roster, each, { id, createdAt, lastMessageAt: null }),
          },
        })),
    },
    ServerRenamed: {
      deliver: ({ data: { secret } }) => [
        { to: [EVERYBODY], message: { type: 'UPDATE_SERVER_SETTINGS', payload: { name: secret.name } } },
      ],
    },
    PresenceChanged: {
      deliver: ({ data: { userId, status, former, lastSeen } }, { roster }) =>
        status === former || !userById(roster, userId)
          ? []
          : [{ to: [EVERYBODY], message: { type: 'PRESENCE_UPDATE', payload: { userId, status, lastSeen } } }],
    },
    RequestRecorded: {},
    SessionOpened: {},
    SessionRefreshed: {},
    SessionEnded: {},
    // Message events carry their attachments.
    FileUploaded: {},
    FileAttached: {},
    FileKept: {},
    FileDiscarded: {},
    PasswordSet: {},
    LinkRequested: {},
    LinkMailed: {},
    LinkSpent: {},
    SignInLimitReached: {},
    Exported: {},
    ActKept: {},
  },
});

export const streamKeysOf = ({ userId, sessionId }: Caller): readonly string[] => [
  EVERYBODY,
  userKey(userId),
  sessionKey(sessionId),
];

type StreamEnd = 'SessionRefreshed' | 'SessionEnded' | 'UserRemoved' | 'UserLeft' | 'UserErased';

/** Creates the handler that ends streams when an event ends their session or user. */
export function endStreams({ end, until }: StreamControl) {
  const endUser = ({ data }: { readonly data: { readonly userId: string } }) => end(userKey(data.userId));
  return handleByType<ChatEvent<StreamEnd>>({
    SessionRefreshed: ({ data: { sessionId, expiresAt } }) => until(sessionKey(sessionId), expiresAt),
    SessionEnded: ({ data: { sessionId } }) => end(sessionKey(sessionId)),
    UserRemoved: endUser,
    UserLeft: endUser,
    UserErased: endUser,
  });
}
