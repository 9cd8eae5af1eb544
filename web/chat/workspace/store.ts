/** The state of the signed-in user's chat: read from the service, kept current by its event stream. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { openEventStream } from '../../shared/api/event-stream.js';
import type { Http } from '../../shared/api/http.js';
import type { Channel, ChatEvent, Conversation, PresenceEntry, User } from '../contract.js';
import { type ById, byId, type ChatState, initialState } from '../state/chat-state.js';
import { applyEvent } from '../state/events.js';

export type Connection = 'connecting' | 'connected' | 'lost';

export interface Store {
  readonly state: ReadonlySignal<ChatState>;
  /** Parts of the state, for views that do not depend on messages. */
  readonly users: ReadonlySignal<ById<User>>;
  readonly channels: ReadonlySignal<ById<Channel>>;
  readonly conversations: ReadonlySignal<ById<Conversation>>;
  readonly presence: ReadonlySignal<ById<PresenceEntry>>;
  readonly serverName: ReadonlySignal<string>;
  readonly connection: ReadonlySignal<Connection>;
  /** Why the first load failed; undefined while loading and once loaded. */
  readonly failure: ReadonlySignal<unknown>;
  readonly isLoaded: ReadonlySignal<boolean>;
  update(change: (state: ChatState) => ChatState): void;
  /**
   * Applies the answer of a read, and again the events that arrived while it was on its way: it may not contain them.
   */
  read<Answer>(reading: Promise<Answer>, apply: (state: ChatState, answer: Answer) => ChatState): Promise<Answer>;
  /** Calls back after an event was applied; returns a function that stops it. */
  onEvent(listener: (event: ChatEvent) => void): () => void;
  /** Reads people and places; again after a failure. */
  load(): Promise<void>;
  /** Connects the event stream, then loads. Returns a function that ends it. */
  start(): () => void;
}

interface StoreDeps {
  readonly http: Http;
  readonly headers: () => { readonly [name: string]: string };
  readonly onUnauthorized: () => Promise<boolean>;
}

/** Time without an event stream, as behind a proxy that holds it back, after which the page is loaded without it. */
const PATIENCE_MS = 2000;

export function createStore({ http, headers, onUnauthorized }: StoreDeps): Store {
  const state = signal(initialState);
  const connection = signal<Connection>('connecting');
  const failure = signal<unknown>(undefined);
  const isLoaded = signal(false);
  const listeners = new Set<(event: ChatEvent) => void>();
  /** Events since the start of the oldest read that is on its way. */
  let recent: ChatEvent[] = [];
  let reads = 0;
  /** Whether the event stream has been open: what was read before may lack what happened until then. */
  let wasConnected = false;
  /** Of the last load; an earlier one must not replace what a later one has read. */
  let loading = new AbortController();

  const store: Store = {
    state,
    users: computed(() => state.value.users),
    channels: computed(() => state.value.channels),
    conversations: computed(() => state.value.conversations),
    presence: computed(() => state.value.presence),
    serverName: computed(() => state.value.serverName),
    connection,
    failure,
    isLoaded,
    update(change) {
      state.value = change(state.value);
    },
    async read(reading, apply) {
      const start = recent.length;
      reads += 1;
      try {
        const answer = await reading;
        state.value = recent.slice(start).reduce(applyEvent, apply(state.value, answer));
        return answer;
      } finally {
        reads -= 1;
        if (reads === 0) recent = [];
      }
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    load,
    start,
  };

  function receive(event: ChatEvent) {
    if (event.type === 'CONNECTED' && !wasConnected) {
      wasConnected = true;
      if (isLoaded.peek()) receive({ type: 'RESET' });
      else void load();
    }
    if (reads > 0) recent.push(event);
    state.value = applyEvent(state.value, event);
    if (event.type === 'RESET') void load();
    for (const listener of listeners) listener(event);
  }

  async function load() {
    loading.abort();
    loading = new AbortController();
    const { signal: aborted } = loading;
    failure.value = undefined;
    const get = <Answer>(path: string) => http.json<Answer>('GET', path, { signal: aborted });
    const reading = Promise.all([
      get<{ users: readonly User[] }>('users'),
      get<{ channels: readonly Channel[] }>('channels'),
      get<{ conversations: readonly Conversation[] }>('conversations'),
      get<{ presence: readonly PresenceEntry[] }>('presence'),
      get<{ name: string }>('server/settings'),
    ]);
    try {
      await store.read(reading, (current, [{ users }, { channels }, { conversations }, { presence }, { name }]) => ({
        ...current,
        serverName: name,
        users: byId(users),
        channels: byId(channels),
        conversations: byId(conversations),
        presence: new Map(presence.map((entry) => [entry.userId, entry])),
        pins: new Map(),
      }));
      isLoaded.value = true;
    } catch (error) {
      if (!aborted.aborted) failure.value = error;
    }
  }

  function start() {
    const patience = setTimeout(() => {
      if (!wasConnected && !isLoaded.peek()) void load();
    }, PATIENCE_MS);
    const stream = openEventStream({
      url: () => 'events',
      headers: () => ({ ...headers(), Accept: 'text/event-stream' }),
      onMessage: (message) => receive(message as unknown as ChatEvent),
      onState: (isConnected) => {
        connection.value = isConnected ? 'connected' : 'lost';
        if (isConnected ? wasConnected && failure.value !== undefined : !isLoaded.peek()) void load();
      },
      onUnauthorized,
    });
    return () => {
      clearTimeout(patience);
      stream.close();
    };
  }

  return store;
}
