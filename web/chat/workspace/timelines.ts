/** Reads pages of messages: newest, older, newer, and around a message. */
import { signal } from '@preact/signals';
import type { Http } from '../../shared/api/http.js';
import type { Message } from '../contract.js';
import { type ChatState, isDirect, onTimeline, withTimeline } from '../state/chat-state.js';
import { extend, indexOf, prepend, refresh, trim } from '../state/timeline.js';
import type { Store } from './store.js';

const PAGE = 50;
/** Messages kept of a place that the reader leaves. */
const MAX_LEFT = 200;
/** Messages kept of a place that is not in view while new ones arrive. */
const MAX_UNSEEN = 400;
/** Places whose newest page is read ahead, for unread marks and quick changes of place. */
const [AHEAD, AHEAD_AT_ONCE] = [200, 3];

type Page = readonly Message[];
export type Timelines = ReturnType<typeof createTimelines>;

/** `key` is that of a timeline: channel, conversation, or parent message. */
export function pathOf(state: Pick<ChatState, 'channels'>, key: string): string {
  const id = encodeURIComponent(key);
  if (isDirect(key)) return `conversations/${id}/messages`;
  return state.channels.has(key) ? `channels/${id}/messages` : `messages/${id}/thread`;
}

export function createTimelines({ http, store }: { readonly http: Http; readonly store: Store }) {
  /** Errors of the last read by timeline. */
  const failures = signal<ReadonlyMap<string, unknown>>(new Map());
  const running = new Map<string, Promise<void>>();

  async function page(key: string, query: { [name: string]: string | number } = {}): Promise<Page> {
    const path = pathOf(store.state.peek(), key);
    const answer = await http.json<{ messages?: Page; replies?: Page }>('GET', path, {
      query: { limit: PAGE, ...query },
    });
    return answer.messages ?? answer.replies ?? [];
  }

  /** One read at a time per timeline and direction; remembers its failure. */
  function once(key: string, what: string, work: () => Promise<unknown>): Promise<void> {
    const name = `${what} ${key}`;
    const current = running.get(name);
    if (current) return current;
    const started = work()
      .then(() => setFailure(key, undefined))
      .catch((error: unknown) => setFailure(key, error))
      .finally(() => running.delete(name));
    running.set(name, started);
    return started;
  }

  function setFailure(key: string, error: unknown) {
    if (failures.value.get(key) === error) return;
    const next = new Map(failures.value);
    if (error === undefined) next.delete(key);
    else next.set(key, error);
    failures.value = next;
  }

  const loadNewest = (key: string) =>
    once(key, 'newest', () =>
      store.read(page(key), (state, messages) =>
        withTimeline(state, key, refresh(state.timelines.get(key), messages, messages.length === PAGE)),
      ),
    );

  const loadOlder = (key: string) =>
    once(key, 'older', async () => {
      const timeline = store.state.peek().timelines.get(key);
      const first = timeline?.messages[0];
      if (!first || !timeline.hasOlder) return;
      await store.read(page(key, { before: first.id }), (state, messages) =>
        onTimeline(state, key, (current) =>
          current.messages[0]?.id === first.id ? prepend(current, messages, messages.length === PAGE) : current,
        ),
      );
    });

  const loadNewer = (key: string) =>
    once(key, 'newer', async () => {
      const timeline = store.state.peek().timelines.get(key);
      const last = timeline?.messages.at(-1);
      if (!last || !timeline?.hasNewer) return;
      await store.read(page(key, { after: last.id }), (state, messages) =>
        onTimeline(state, key, (current) =>
          current.messages.at(-1)?.id === last.id ? extend(current, messages, messages.length === PAGE) : current,
        ),
      );
    });

  async function readAround(key: string, id: string) {
    const after = await page(key, { after: id });
    const next = after[0];
    return { upTo: await page(key, next ? { before: next.id } : {}), after };
  }

  /** Loads messages around one; resolves with false if it does not exist any more. Rejects if there never was one. */
  async function loadAround(key: string, id: string): Promise<boolean> {
    const timeline = store.state.peek().timelines.get(key);
    if (timeline && indexOf(timeline, id) >= 0) return true;
    // One read, so that events between its parts are applied to both.
    const reading = readAround(key, id);
    const { upTo } = await store.read(reading, (state, { upTo, after }) =>
      withTimeline(state, key, {
        messages: [...upTo, ...after],
        hasOlder: upTo.length === PAGE,
        hasNewer: after.length === PAGE,
      }),
    );
    return upTo.some((message) => message.id === id);
  }

  /** A timeline that was left keeps its newest part; one left in the past is dropped. */
  function leave(key: string) {
    store.update((state) => onTimeline(state, key, (timeline) => trim(timeline, MAX_LEFT)));
    if (store.state.peek().timelines.get(key)?.hasNewer) void loadNewest(key);
  }

  /** A message has arrived in a timeline that is not in view. */
  const bound = (key: string) =>
    store.update((state) => onTimeline(state, key, (timeline) => trim(timeline, MAX_UNSEEN)));

  /** Reads the newest page of each place, conversations first. */
  async function loadAhead() {
    const { conversations, channels } = store.state.peek();
    const keys = [...conversations.keys(), ...channels.keys()].slice(0, AHEAD).values();
    const work = async () => {
      for (const key of keys) if (!store.state.peek().timelines.has(key)) await loadNewest(key);
    };
    await Promise.all(Array.from({ length: AHEAD_AT_ONCE }, work));
  }

  /** After a gap in the events: everything loaded is read again, what is in view first. */
  async function reload(inView: readonly string[]) {
    const keys = [...store.state.peek().timelines.keys()];
    for (const key of [...inView, ...keys.filter((each) => !inView.includes(each))]) await loadNewest(key);
  }

  /** With the connection back, reads that failed are tried again. */
  function retryFailed() {
    const { timelines } = store.state.peek();
    for (const key of failures.peek().keys()) void (timelines.has(key) ? loadOlder(key) : loadNewest(key));
  }

  return { retryFailed, failures, loadNewest, loadOlder, loadNewer, loadAround, leave, bound, loadAhead, reload };
}
