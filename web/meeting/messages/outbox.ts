/** Outbox of chat messages the service has not confirmed: queued while offline, sent in order. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { ChatText } from '../protocol/messages.js';
import { texts } from '../texts.js';

export interface PendingMessage extends ChatText {
  /** `sent`: not confirmed yet. `unsure`: the connection was lost before the confirmation. */
  readonly status: 'queued' | 'sent' | 'unsure';
  /** True once the confirmation takes long enough to be shown. */
  readonly isSlow?: boolean;
}

export interface OutboxEntry extends PendingMessage {
  readonly id: string;
}

export interface OutboxOptions {
  /** Returns false if there is no connection. */
  send(message: ChatText): boolean;
  /** Announces to screen readers. */
  announce(notice: string): void;
}

export interface Outbox {
  /** Messages to show: not those that are about to be confirmed. */
  readonly visible: ReadonlySignal<readonly OutboxEntry[]>;
  /** Messages to restore after a reload of the page. */
  pending(): readonly PendingMessage[];
  /** Drops messages for another room. */
  enter(room: string, restored?: readonly PendingMessage[]): void;
  /** Returns false if the queue is full. */
  add(message: ChatText): boolean;
  sendAgain(id: string): void;
  discard(id: string): void;
  /** Removes a message that the service has sent to everyone. */
  confirm(text: string): void;
  setConnected(now: boolean): void;
}

const MAX_QUEUE = 50;
const SLOW_MS = 1000;

export function createOutbox({ send, announce }: OutboxOptions): Outbox {
  const entries = signal<readonly OutboxEntry[]>([]);
  let roomId = '';
  let isConnected = false;
  let count = 0;

  function change(id: string, next: Partial<PendingMessage>) {
    entries.value = entries.value.map((each) => (each.id === id ? { ...each, ...next } : each));
  }

  function discard(id: string) {
    entries.value = entries.value.filter((each) => each.id !== id);
  }

  /** Sends queued messages while there is a connection. */
  function flush() {
    for (const { id, status, text, replyTo } of entries.value) {
      if (!isConnected || status !== 'queued') continue;
      if (!send({ text, ...(replyTo !== undefined && { replyTo }) })) break;
      change(id, { status: 'sent', isSlow: false });
      setTimeout(() => change(id, { isSlow: true }), SLOW_MS);
    }
  }

  const newEntry = (message: PendingMessage): OutboxEntry => ({ ...message, id: String(++count) });

  function queue({ text, replyTo }: ChatText) {
    const entry = newEntry({ text, ...(replyTo !== undefined && { replyTo }), status: 'queued' });
    entries.value = [...entries.value, entry];
    flush();
  }

  return {
    visible: computed(() => entries.value.filter(({ status, isSlow }) => status !== 'sent' || isSlow)),
    pending: () =>
      entries.value.map(({ id: _, ...each }) => (each.status === 'sent' ? { ...each, status: 'unsure' } : each)),
    enter(room, restored = []) {
      const existing = room === roomId ? entries.value : [];
      roomId = room;
      entries.value = [...existing, ...restored.map(newEntry)];
    },
    add(message) {
      if (entries.value.length >= MAX_QUEUE) return false;
      queue(message);
      if (!isConnected) announce(texts.chat.offline);
      return true;
    },
    sendAgain(id) {
      const entry = entries.value.find((each) => each.id === id);
      if (!entry) return;
      discard(id);
      queue(entry);
    },
    discard,
    confirm(text) {
      const found = entries.value.find((each) => each.status !== 'queued' && each.text === text);
      if (found) discard(found.id);
    },
    setConnected(now) {
      if (now === isConnected) return;
      isConnected = now;
      const sent = entries.value.filter(({ status }) => status === 'sent');
      for (const { id } of sent) change(id, { status: 'unsure' });
      if (sent.length > 0) announce(texts.chat.unsureNotice);
      flush();
    },
  };
}
