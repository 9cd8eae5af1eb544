/**
 * Applies events of the stream to the state. Applying an event again changes nothing, because events that arrive while a
 * page is loading are applied to the page once more.
 */
import type {
  ChatEvent,
  EventMessage,
  Message,
  ReactionPayload,
  Reactions,
  ReplyPayload,
  ThreadMeta,
} from '../contract.js';
import { type ChatState, drop, onTimeline, put } from './chat-state.js';
import { append, change, remove } from './timeline.js';

type Deletion = Extract<ChatEvent, { readonly type: 'DELETE_THREAD_REPLY' }>['payload'];

export function applyEvent(state: ChatState, event: ChatEvent): ChatState {
  switch (event.type) {
    case 'NEW_MESSAGE':
    case 'NEW_DM_MESSAGE':
      return addMessage(state, event.payload);
    case 'UPDATE_MESSAGE':
    case 'UPDATE_DM_MESSAGE':
      return updateMessage(state, event.payload.channelId, event.payload);
    case 'DELETE_MESSAGE':
    case 'DELETE_DM_MESSAGE':
      return deleteMessage(state, event.payload);
    case 'NEW_CHANNEL':
    case 'UPDATE_CHANNEL':
      return { ...state, channels: put(state.channels, event.payload.id, event.payload) };
    case 'DELETE_CHANNEL':
      return deleteChannel(state, event.payload.id);
    case 'NEW_REACTION':
    case 'DELETE_REACTION':
      return react(state, event.payload, event.type === 'NEW_REACTION');
    case 'NEW_USER':
    case 'UPDATE_USER':
      return { ...state, users: put(state.users, event.payload.id, event.payload) };
    case 'REMOVE_USER':
    case 'USER_EXIT':
      return {
        ...state,
        users: drop(state.users, event.payload.id),
        presence: drop(state.presence, event.payload.id),
      };
    case 'NEW_CONVERSATION':
      return { ...state, conversations: put(state.conversations, event.payload.id, event.payload) };
    case 'NEW_THREAD_REPLY':
      return addReply(state, event.payload);
    case 'UPDATE_THREAD_REPLY':
      return updateMessage(state, event.payload.parentMessageId, withoutThread(event.payload));
    case 'DELETE_THREAD_REPLY':
      return deleteReply(state, event.payload);
    case 'UPDATE_SERVER_SETTINGS':
      return { ...state, serverName: event.payload.name };
    case 'PRESENCE_UPDATE':
      return { ...state, presence: put(state.presence, event.payload.userId, event.payload) };
    default:
      return state;
  }
}

const complete = (message: EventMessage): Message => ({ ...message, reactions: message.reactions ?? {} });

/** `threadMeta` of an event about a reply is that of its parent. */
function withoutThread<Payload extends EventMessage>({ threadMeta: _, ...reply }: Payload): EventMessage {
  return reply;
}

export function addMessage(state: ChatState, message: EventMessage): ChatState {
  const added = onTimeline(state, message.channelId, (timeline) => append(timeline, complete(message)));
  const conversation = state.conversations.get(message.channelId);
  if (!conversation || (conversation.lastMessageAt ?? 0) >= message.createdAt) return added;
  const active = { ...conversation, lastMessageAt: message.createdAt };
  return { ...added, conversations: put(added.conversations, conversation.id, active) };
}

/** Updates a message by an event or answer, unless a later change is known. */
export function updateMessage(state: ChatState, key: string, update: EventMessage): ChatState {
  const merge = (message: Message): Message =>
    (update.updatedAt ?? 0) < (message.updatedAt ?? 0)
      ? message
      : {
          ...message,
          ...update,
          reactions: update.reactions ?? message.reactions,
          ...(message.threadMeta && !update.threadMeta && { threadMeta: message.threadMeta }),
        };
  const updated = onTimeline(state, key, (timeline) => change(timeline, update.id, merge));
  return mergePin(updated, update);
}

function mergePin(state: ChatState, update: EventMessage): ChatState {
  const pins = state.pins.get(update.channelId);
  if (!pins) return state;
  const known = pins.find(({ id }) => id === update.id);
  if (!known && update.pinnedAt === null) return state;
  const others = pins.filter(({ id }) => id !== update.id);
  const pinned = { ...complete(update), reactions: update.reactions ?? known?.reactions ?? {} };
  const merged = update.pinnedAt === null ? others : [pinned, ...others];
  return {
    ...state,
    pins: put(
      state.pins,
      update.channelId,
      merged.toSorted((a, b) => (b.pinnedAt ?? 0) - (a.pinnedAt ?? 0)),
    ),
  };
}

export function deleteMessage(state: ChatState, { id, channelId }: { id: string; channelId: string }): ChatState {
  const removed = onTimeline(state, channelId, (timeline) => remove(timeline, id));
  const pins = removed.pins.get(channelId);
  return {
    ...removed,
    timelines: drop(removed.timelines, id),
    pins: pins
      ? put(
          removed.pins,
          channelId,
          pins.filter((pin) => pin.id !== id),
        )
      : removed.pins,
  };
}

const deleteChannel = (state: ChatState, id: string): ChatState => ({
  ...state,
  channels: drop(state.channels, id),
  timelines: drop(state.timelines, id),
  pins: drop(state.pins, id),
});

/** Adds or removes a user of a reaction. */
export function withReaction(reactions: Reactions, reaction: string, userId: string, isOn: boolean): Reactions {
  const users = Object.hasOwn(reactions, reaction) ? (reactions[reaction] ?? []) : [];
  if (users.includes(userId) === isOn) return reactions;
  const changed = isOn ? [...users, userId] : users.filter((id) => id !== userId);
  const entries = Object.entries(reactions).filter(([name]) => name !== reaction || changed.length > 0);
  if (!Object.hasOwn(reactions, reaction)) entries.push([reaction, changed]);
  return Object.fromEntries(entries.map(([name, ids]) => [name, name === reaction ? changed : ids]));
}

export function react(state: ChatState, payload: ReactionPayload, isOn: boolean): ChatState {
  const { messageId, channelId, userId, reaction } = payload;
  const update = (message: Message): Message => {
    const reactions = withReaction(message.reactions, reaction, userId, isOn);
    return reactions === message.reactions ? message : { ...message, reactions };
  };
  // A reply is in one of the threads that are loaded; ids are unique.
  const threads = [...state.timelines.keys()].filter((key) => key !== channelId);
  return [channelId, ...threads].reduce(
    (next, key) => onTimeline(next, key, (timeline) => change(timeline, messageId, update)),
    state,
  );
}

function setThread(state: ChatState, channelId: string, parentId: string, meta: ThreadMeta | null): ChatState {
  return onTimeline(state, channelId, (timeline) =>
    change(timeline, parentId, ({ threadMeta: _, ...parent }) => (meta ? { ...parent, threadMeta: meta } : parent)),
  );
}

export function addReply(state: ChatState, payload: ReplyPayload): ChatState {
  const { parentMessageId, channelId, threadMeta } = payload;
  const reply = complete(withoutThread(payload));
  const added = onTimeline(state, parentMessageId, (timeline) => append(timeline, reply));
  return setThread(added, channelId, parentMessageId, threadMeta);
}

function deleteReply(state: ChatState, payload: Deletion): ChatState {
  const { id, parentMessageId, channelId, threadMeta } = payload;
  const removed = onTimeline(state, parentMessageId, (timeline) => remove(timeline, id));
  return setThread(removed, channelId, parentMessageId, threadMeta);
}
