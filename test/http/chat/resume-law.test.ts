/** Property: reading the chat and then applying its event frames equals reading it later. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { ask, EventStream, type Frame, type Member } from '../../support/http-spec.js';
import { random } from '../../support/random.js';

// biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
type Any = any;

/** What a client knows, kept up to date with the frames it receives. */
interface Known {
  channels: Map<string, Any>;
  conversations: Map<string, Any>;
  /** By channel or conversation id. */
  messages: Map<string, Any[]>;
  /** By the id of their parent message. */
  replies: Map<string, Any[]>;
  /** Channels that became visible later, so their older messages are unknown. */
  partial: Set<string>;
}

const NAMES = ['admin', 'ada', 'bob', 'cyd'] as const;

describe("property of the chat's event stream", function () {
  this.timeout(120_000);
  let world: ChatWorld;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());

  /** Reads all that a user sees, and the position after which frames are needed. */
  async function read(who: Member): Promise<{ known: Known; since: string }> {
    const get = (path: string) => ask(world.base, 'GET', path, { token: who.token });
    const first = await get('/channels');
    const known: Known = {
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
  function applyFrame(known: Known, { type, payload }: Frame) {
    const list = known.messages.get(payload.channelId) ?? [];
    const messageById = (id: string) => [...known.messages.values()].flat().find((each) => each.id === id);
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
  const comparable = (known: Known, partial: ReadonlySet<string>) => {
    const lists = [...known.messages].filter(([id]) => !partial.has(id));
    const threads = new Set(lists.flatMap(([, messages]) => messages.map(({ id }: Any) => id)));
    return {
      channels: [...known.channels.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
      conversations: [...known.conversations.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
      messages: Object.fromEntries(lists.filter(([, messages]) => messages.length > 0)),
      replies: Object.fromEntries([...known.replies].filter(([id, all]) => threads.has(id) && all.length > 0)),
    };
  };

  /** Performs a random request as a random user; rejected ones change nothing. */
  async function performRandomAction(pick: ReturnType<typeof random>, visibility: string[], posted: Any[]) {
    const who = world[NAMES[pick(4)]!];
    const other = world[NAMES[pick(4)]!];
    const placeId = visibility[pick(visibility.length)]!;
    const message = posted[pick(posted.length)] ?? { id: 'none', replies: [] };
    const reply = message.replies?.[pick(message.replies.length || 1)] ?? 'none';
    const at = placeId.startsWith('dm:') ? `/conversations/${placeId}` : `/channels/${placeId}`;
    const as = async (method: string, path: string, body?: unknown) => (await world.as(who, method, path, body)).body;
    const content = `text ${pick(1_000_000)}`;
    switch (pick(16)) {
      case 0: {
        const { channel } = await as('POST', '/channels', {
          name: content,
          isPrivate: pick(2) === 0,
          members: [other.id],
        });
        return void (channel && visibility.push(channel.id));
      }
      case 1: {
        const members = NAMES.filter(() => pick(2) === 0).map((name) => world[name].id);
        return as('PUT', at, { members, isPrivate: pick(2) === 0, topic: content });
      }
      case 2: {
        const { conversation } = await as('POST', '/conversations', { targetUserId: other.id });
        return void (conversation && !visibility.includes(conversation.id) && visibility.push(conversation.id));
      }
      case 3:
        return pick(4) === 0 ? as('DELETE', at) : as('PUT', '/users/me', { userName: content });
      case 4:
        return as('PUT', `/messages/${message.id}`, { content });
      case 5:
        return pick(3) === 0 && as('DELETE', `/messages/${message.id}`);
      case 6:
        return as('POST', `/messages/${message.id}/pin`, {});
      case 7:
        return as('DELETE', `/messages/${message.id}/pin`);
      case 8:
      case 9:
        return as('POST', `/messages/${message.id}/reactions`, { reaction: `r${pick(3)}` });
      case 10:
        return as('DELETE', `/messages/${message.id}/reactions`, { reaction: `r${pick(3)}` });
      case 11:
      case 12: {
        const { reply: made } = await as('POST', `/messages/${message.id}/thread`, { content });
        return void (made && message.replies.push(made.id));
      }
      case 13:
        return pick(2) === 0
          ? as('PUT', `/messages/${message.id}/thread/${reply}`, { content })
          : as('DELETE', `/messages/${message.id}/thread/${reply}`);
      default: {
        const { message: made } = await as('POST', `${at}/messages`, { content });
        return void (made && posted.push({ id: made.id, replies: [] }));
      }
    }
  }

  for (const seed of [1, 2, 3])
    it(`applying frames to an earlier read equals a later read, for every user (seed ${seed})`, async () => {
      const pick = random(seed * 7919);
      const general = (await world.done(world.ada, 'GET', '/channels')).channels[0].id;
      const visibility: string[] = [general];
      const posted: Any[] = [];
      for (let n = 0; n < 40; n++) await performRandomAction(pick, visibility, posted);
      const views = await Promise.all(NAMES.map((name) => read(world[name])));
      // Some requests happen before the streams connect.
      for (let n = 0; n < 20; n++) await performRandomAction(pick, visibility, posted);
      const streams = await Promise.all(
        NAMES.map((name, at) =>
          EventStream.to(world.base, {
            token: world[name].token,
            headers: { 'last-event-id': views[at]!.since },
          }),
        ),
      );
      for (let n = 0; n < 80; n++) await performRandomAction(pick, visibility, posted);
      // Everybody receives this event last.
      const { channel: last } = await world.done(world.admin, 'POST', '/channels', { name: `end ${seed}` });
      for (const [at, name] of NAMES.entries()) {
        const { frames } = streams[at]!;
        await eventually(() => frames.some(({ payload }) => payload?.id === last.id));
        expect(frames.map(({ type }) => type)).not.to.include('RESET');
        const { known } = views[at]!;
        for (const each of frames) applyFrame(known, each);
        const { known: later } = await read(world[name]);
        expect(comparable(known, known.partial), name).to.deep.equal(comparable(later, known.partial));
        streams[at]!.close();
      }
    });
});
