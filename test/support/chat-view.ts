/** State of a chat client: read once, then updated with the frames of its event stream. */
import { ask, type Frame } from './http-spec.js';

// biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
type Any = any;

/** State of a client, updated with the frames it receives. */
export interface ChatView {
  channels: Map<string, Any>;
  conversations: Map<string, Any>;
  /** By channel or conversation id. */
  messages: Map<string, Any[]>;
  /** By the id of their parent message. */
  replies: Map<string, Any[]>;
  /** Channels that became visible later, so their older messages are unknown. */
  partial: Set<string>;
}

/** Reads all that a user sees, and the position after which frames are needed. */
export async function readView(base: string, token: string): Promise<{ known: ChatView; since: string }> {
  const get = (path: string) => ask(base, 'GET', path, { token });
  const first = await get('/channels');
  const known: ChatView = {
    channels: new Map(first.body.channels.map((each: Any) => [each.id, each])),
    conversations: new Map(),
    messages: new Map(),
    replies: new Map(),
    partial: new Set(),
  };
  for (const each of (await get('/conversations')).body.conversations) known.conversations.set(each.id, each);
  const lists = [
    ...[...known.channels.keys()].map((id) => [id, `/channels/${id}`] as const),
    ...[...known.conversations.keys()].map((id) => [id, `/conversations/${id}`] as const),
  ];
  for (const [id, path] of lists) {
    const { messages } = (await get(`${path}/messages?limit=500`)).body;
    known.messages.set(id, messages);
    for (const message of messages)
      if (message.threadMeta)
        known.replies.set(message.id, (await get(`/messages/${message.id}/thread?limit=500`)).body.replies);
  }
  return { known, since: first.headers.get('position') ?? '' };
}

/** Applies one frame as the contract defines it. */
export function applyFrame(known: ChatView, { type, payload }: Frame) {
  const list = known.messages.get(payload.channelId) ?? [];
  const messageById = (id: string) =>
    [...known.messages.values(), ...known.replies.values()].flat().find((each) => each.id === id);
  const reactions = (change: (users: string[]) => string[]) => {
    const message = messageById(payload.messageId);
    if (!message) return;
    const users = change(message.reactions[payload.reaction] ?? []);
    const { [payload.reaction]: _, ...others } = message.reactions;
    message.reactions = users.length > 0 ? { ...others, [payload.reaction]: users } : others;
  };
  const meta = () => {
    const message = messageById(payload.parentMessageId);
    if (!message) return;
    if (payload.threadMeta) message.threadMeta = payload.threadMeta;
    else delete message.threadMeta;
  };
  const strip = ({ conversationId: _, participants: __, ...message }: Any) => message;
  switch (type) {
    case 'NEW_CHANNEL':
      known.channels.set(payload.id, payload);
      return known.partial.add(payload.id);
    case 'UPDATE_CHANNEL':
      return known.channels.set(payload.id, payload);
    case 'DELETE_CHANNEL':
      known.messages.delete(payload.id);
      known.partial.add(payload.id);
      return known.channels.delete(payload.id);
    case 'NEW_CONVERSATION':
      known.conversations.set(payload.id, payload);
      return known.messages.set(payload.id, []);
    case 'NEW_DM_MESSAGE':
      known.conversations.get(payload.conversationId).lastMessageAt = payload.createdAt;
      return known.messages.set(payload.channelId, [...list, strip(payload)]);
    case 'NEW_MESSAGE':
      return known.messages.set(payload.channelId, [...list, payload]);
    case 'UPDATE_MESSAGE':
    case 'UPDATE_DM_MESSAGE': {
      const changed = list.map((each) => (each.id === payload.id ? strip(payload) : each));
      return known.messages.set(payload.channelId, changed);
    }
    case 'DELETE_MESSAGE':
    case 'DELETE_DM_MESSAGE':
      known.replies.delete(payload.id);
      return known.messages.set(
        payload.channelId,
        list.filter(({ id }) => id !== payload.id),
      );
    case 'NEW_REACTION':
      return reactions((users) => [...users, payload.userId]);
    case 'DELETE_REACTION':
      return reactions((users) => users.filter((each) => each !== payload.userId));
    case 'NEW_THREAD_REPLY': {
      const { parentMessageId: parent, reply } = payload;
      known.replies.set(parent, [...(known.replies.get(parent) ?? []), reply]);
      return meta();
    }
    case 'UPDATE_THREAD_REPLY': {
      const { parentMessageId: parent, threadMeta: _, ...reply } = payload;
      const all = (known.replies.get(parent) ?? []).map((each) => (each.id === reply.id ? reply : each));
      known.replies.set(parent, all);
      return meta();
    }
    case 'DELETE_THREAD_REPLY': {
      const { threadId, id } = payload;
      const remaining = (known.replies.get(threadId) ?? []).filter((each) => each.id !== id);
      if (remaining.length > 0) known.replies.set(threadId, remaining);
      else known.replies.delete(threadId);
      return meta();
    }
    case 'UPDATE_USER': {
      if (type !== 'UPDATE_USER') return;
      const named = JSON.parse(JSON.stringify([...known.messages], (_, value) => renamed(value, payload)));
      known.messages = new Map(named);
      known.replies = new Map(JSON.parse(JSON.stringify([...known.replies], (_, value) => renamed(value, payload))));
      known.conversations = new Map(
        JSON.parse(JSON.stringify([...known.conversations], (_, value) => renamed(value, payload))),
      );
      return;
    }
  }
}
const renamed = (value: Any, { id, userName }: Any) =>
  value?.id === id && typeof value.userName === 'string' ? { ...value, userName } : value;

/** The part of the state that was known from the beginning. */
export const comparable = (known: ChatView, partial: ReadonlySet<string>) => {
  const lists = [...known.messages].filter(([id]) => !partial.has(id));
  const threads = new Set(lists.flatMap(([, messages]) => messages.map(({ id }: Any) => id)));
  return {
    channels: [...known.channels.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    conversations: [...known.conversations.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    messages: Object.fromEntries(lists.filter(([, messages]) => messages.length > 0)),
    replies: Object.fromEntries([...known.replies].filter(([id, all]) => threads.has(id) && all.length > 0)),
  };
};
