/** Sends what is in the outbox, in order, until the service has it; the outbox survives a reload. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { type ApiError, type Http, isTemporary, messageOf } from '../../shared/api/http.js';
import { randomKey } from '../../shared/random-key.js';
import { stored } from '../../shared/storage.js';
import type { Message, MessageInput, ThreadMeta } from '../contract.js';
import { userKey } from '../session.js';
import { isDirect } from '../state/chat-state.js';
import { addMessage, addReply } from '../state/events.js';
import type { Outbox, Outgoing } from '../state/outbox.js';
import * as outboxes from '../state/outbox.js';
import { storedOutgoing } from '../state/stored-input.js';
import type { Store } from './store.js';

const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [1000, 30_000];

export interface Sending {
  readonly outbox: ReadonlySignal<Outbox>;
  send(target: Pick<Outgoing, 'placeId' | 'threadId'>, input: MessageInput): void;
  retry(key: string): void;
  /** Takes a message out of the outbox, for example to edit it. */
  discard(key: string): void;
  start(): () => void;
}

interface SendingDeps {
  readonly http: Http;
  readonly store: Store;
  readonly userId: string;
}

export function createSending({ http, store, userId }: SendingDeps): Sending {
  const prefix = userKey(userId, 'outbox.');
  const storedEntry = (key: string) => stored<Outgoing | null>(prefix + key, null);
  const outbox = signal<Outbox>(outboxes.restored(restore(prefix)));
  let pause = FIRST_PAUSE_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = true;

  function change(key: string, changes: Partial<Outgoing>) {
    outbox.value = outboxes.update(outbox.value, key, changes);
    const entry = outbox.value.find((each) => each.key === key);
    // After signing out nothing of the user is stored again.
    if (entry && !isStopped) storedEntry(key).set(entry);
  }

  function discard(key: string) {
    outbox.value = outboxes.withoutKey(outbox.value, key);
    storedEntry(key).remove();
    run();
  }

  function run() {
    if (isStopped) return;
    for (const outgoing of outboxes.nextToSend(outbox.value)) void deliver(outgoing);
  }

  async function deliver(outgoing: Outgoing) {
    const { key } = outgoing;
    change(key, { status: 'sending' });
    try {
      await post(outgoing);
      pause = FIRST_PAUSE_MS;
      discard(key);
    } catch (error) {
      // Taken out while it was on its way, by the author or because an event has reported it.
      if (!outbox.value.some((each) => each.key === key)) return;
      const isLater = isTemporary(error);
      change(key, { status: isLater ? 'waiting' : 'failed', error: messageOf(error) });
      if (isLater) later((error as ApiError).retryAfterSeconds);
      else run();
    }
  }

  function later(seconds: number | undefined) {
    clearTimeout(timer);
    timer = setTimeout(run, seconds === undefined ? pause : seconds * 1000);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  }

  async function post({ key, placeId, threadId, content, attachments, images, quotedMessageId }: Outgoing) {
    const options = {
      idempotencyKey: key,
      body: { content, attachments, images, ...(quotedMessageId !== null && { quotedMessageId }) },
    };
    const id = encodeURIComponent(threadId ?? placeId);
    if (threadId !== undefined) {
      const path = `messages/${id}/thread`;
      const answer = await http.json<{ reply: Message; threadMeta: ThreadMeta }>('POST', path, options);
      const { reply, threadMeta } = answer;
      store.update((state) => addReply(state, { ...reply, parentMessageId: threadId, threadMeta }));
      return;
    }
    const path = isDirect(placeId) ? `conversations/${id}/messages` : `channels/${id}/messages`;
    const { message } = await http.json<{ message: Message }>('POST', path, options);
    store.update((state) => addMessage(state, message));
  }

  /** Another tab has sent or discarded a message. */
  function onStorage({ key, newValue }: StorageEvent) {
    if (key?.startsWith(prefix) && newValue === null)
      outbox.value = outboxes.withoutKey(outbox.value, key.slice(prefix.length));
  }

  function start() {
    isStopped = false;
    const stopListening = store.onEvent((event) => {
      if (event.type !== 'NEW_MESSAGE' && event.type !== 'NEW_DM_MESSAGE' && event.type !== 'NEW_THREAD_REPLY') return;
      const { payload } = event;
      if (payload.author.id !== userId) return;
      const timeline = event.type === 'NEW_THREAD_REPLY' ? event.payload.parentMessageId : payload.channelId;
      const reported = outboxes.reportedBy(outbox.value, timeline, payload);
      if (reported) outbox.value = outboxes.update(outbox.value, reported.key, { isReported: true });
    });
    const now = () => {
      clearTimeout(timer);
      run();
    };
    addEventListener('online', now);
    addEventListener('storage', onStorage);
    run();
    return () => {
      isStopped = true;
      clearTimeout(timer);
      stopListening();
      removeEventListener('online', now);
      removeEventListener('storage', onStorage);
    };
  }

  return {
    outbox,
    send(target, input) {
      const outgoing: Outgoing = { ...input, ...target, key: randomKey(), writtenAt: Date.now(), status: 'waiting' };
      outbox.value = [...outbox.value, outgoing];
      storedEntry(outgoing.key).set(outgoing);
      run();
    },
    retry(key) {
      change(key, { status: 'waiting' });
      run();
    },
    discard,
    start,
  };
}

function restore(prefix: string): Outbox {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(prefix))
      .flatMap((key) => storedOutgoing(stored<unknown>(key, null).get()) ?? [])
      .sort((a, b) => a.writtenAt - b.writtenAt);
  } catch {
    return [];
  }
}
