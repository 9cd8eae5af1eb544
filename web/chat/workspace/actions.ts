/** Commands of the user other than sending. Each shows its effect with its answer, and rejects with what went wrong. */
import type { Http } from '../../shared/api/http.js';
import { randomKey } from '../../shared/random-key.js';
import type {
  Channel,
  Conversation,
  Message,
  MessageInput,
  PresenceEntry,
  SearchResult,
  Status,
  Version,
} from '../contract.js';
import type { ChannelInput } from '../state/channel-changes.js';
import { put } from '../state/chat-state.js';
import { applyEvent, react, updateMessage } from '../state/events.js';
import type { Store } from './store.js';

export interface SearchFilters {
  readonly channelId?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly authorId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly limit?: number;
}

export type Actions = ReturnType<typeof createActions>;

export function createActions({ http, store, userId }: ActionDeps) {
  const { update } = store;
  const pathOf = ({ id }: Pick<Message, 'id'>) => `messages/${encodeURIComponent(id)}`;
  const command = <Answer>(method: string, path: string, body: unknown = {}, idempotencyKey = randomKey()) =>
    http.json<Answer>(method, path, { body, idempotencyKey });
  const timelineOf = ({ threadId, channelId }: Message) => threadId ?? channelId;

  const saveChannel = async (method: string, path: string, body: Partial<ChannelInput>, key?: string) => {
    const { channel } = await command<{ channel: Channel }>(method, path, body, key);
    update((state) => ({ ...state, channels: put(state.channels, channel.id, channel) }));
    return channel;
  };

  return {
    async edit(message: Message, input: Partial<MessageInput>) {
      const answer = await command<{ message: Message }>('PUT', pathOf(message), input);
      update((state) => updateMessage(state, timelineOf(message), answer.message));
    },

    async remove({ id, channelId, threadId }: Message) {
      const path =
        threadId === undefined ? pathOf({ id }) : `${pathOf({ id: threadId })}/thread/${encodeURIComponent(id)}`;
      const answer = await command<{ threadMeta?: Message['threadMeta'] | null }>('DELETE', path);
      if (threadId === undefined)
        update((state) => applyEvent(state, { type: 'DELETE_MESSAGE', payload: { id, channelId } }));
      else {
        const payload = { id, channelId, parentMessageId: threadId, threadMeta: answer.threadMeta ?? null };
        update((state) => applyEvent(state, { type: 'DELETE_THREAD_REPLY', payload }));
      }
    },

    /** Shows a change immediately, and reverts it if the service refuses. */
    async setReaction({ id: messageId, channelId }: Message, reaction: string, isOn: boolean) {
      const payload = { messageId, channelId, userId, reaction };
      update((state) => react(state, payload, isOn));
      try {
        await command(isOn ? 'POST' : 'DELETE', `${pathOf({ id: messageId })}/reactions`, { reaction });
      } catch (error) {
        update((state) => react(state, payload, !isOn));
        throw error;
      }
    },

    async setPinned(message: Message, isPinned: boolean) {
      const answer = await command<{ message: Message }>(isPinned ? 'POST' : 'DELETE', `${pathOf(message)}/pin`);
      update((state) => updateMessage(state, message.channelId, answer.message));
    },

    async history(message: Pick<Message, 'id'>): Promise<readonly Version[]> {
      return (await http.json<{ history: readonly Version[] }>('GET', `${pathOf(message)}/history`)).history;
    },

    async loadPins(channelId: string) {
      const path = `channels/${encodeURIComponent(channelId)}/pins`;
      await store.read(http.json<{ messages: readonly Message[] }>('GET', path), (state, { messages }) => ({
        ...state,
        pins: put(state.pins, channelId, messages),
      }));
    },

    async search(q: string, filters: SearchFilters, signal?: AbortSignal): Promise<readonly SearchResult[]> {
      const options = { query: { q, ...filters }, ...(signal && { signal }) };
      return (await http.json<{ messages: readonly SearchResult[] }>('GET', 'search/messages', options)).messages;
    },

    createChannel: (input: ChannelInput, key: string) => saveChannel('POST', 'channels', input, key),
    updateChannel: (id: string, input: Partial<ChannelInput>) =>
      saveChannel('PUT', `channels/${encodeURIComponent(id)}`, input),

    async deleteChannel({ id, name }: Channel) {
      await command('DELETE', `channels/${encodeURIComponent(id)}`);
      update((state) => applyEvent(state, { type: 'DELETE_CHANNEL', payload: { id, name } }));
    },

    async startConversation(targetUserId: string): Promise<string> {
      const { conversation } = await command<{ conversation: Conversation }>('POST', 'conversations', { targetUserId });
      update((state) =>
        state.conversations.has(conversation.id)
          ? state
          : { ...state, conversations: put(state.conversations, conversation.id, conversation) },
      );
      return conversation.id;
    },

    async setStatus(status: Status) {
      const { presence } = await command<{ presence: PresenceEntry }>('PUT', 'presence/me', { status });
      update((state) => ({ ...state, presence: put(state.presence, presence.userId, presence) }));
    },
  };
}

interface ActionDeps {
  readonly http: Http;
  readonly store: Store;
  readonly userId: string;
}
