/** What the chat shows: messages, notices about the meeting, and files, in order of arrival. */
import { effect, signal } from '@preact/signals';
import type { Transfer } from '../files/files.js';
import { panel } from '../meeting/panel.js';
import type { Chat } from '../protocol/messages.js';

export type Entry =
  | { readonly kind: 'message'; readonly key: string; readonly message: Chat; readonly quoted: Chat | undefined }
  | { readonly kind: 'notice'; readonly key: string; readonly text: string }
  | { readonly kind: 'file'; readonly key: string };

/** The oldest entries beyond this number are removed. */
const MAX_ENTRIES = 500;

export const entries = signal<readonly Entry[]>([]);
/** By batch, in order of the recipients. */
export const transfers = signal<ReadonlyMap<string, readonly Transfer[]>>(new Map());
/** Messages and offered files that arrived while the chat was closed. */
export const unread = signal(0);
/** What is being typed: kept while the chat is closed, and over a reload. */
export const draft = signal('');
export const replyTo = signal<Chat | undefined>();

let lastKey = 0;

function add(entry: Entry) {
  entries.value = [...entries.value, entry].slice(-MAX_ENTRIES);
}

export function addNotice(text: string): void {
  add({ kind: 'notice', key: `notice-${++lastKey}`, text });
}

export function addMessage(message: Chat, isOwn: boolean): void {
  const quoted =
    message.replyTo === undefined
      ? undefined
      : entries.value
          .flatMap((each) => (each.kind === 'message' ? [each.message] : []))
          .find(({ messageId }) => messageId === message.replyTo);
  add({ kind: 'message', key: `message-${++lastKey}`, message, quoted });
  if (!isOwn) countUnread();
}

export function updateTransfer(transfer: Transfer): void {
  const { batch, id, isOurs } = transfer;
  const before = transfers.value.get(batch);
  const after = before?.some((each) => each.id === id)
    ? before.map((each) => (each.id === id ? transfer : each))
    : [...(before ?? []), transfer];
  transfers.value = new Map([...transfers.value, [batch, after]]);
  if (before) return;
  add({ kind: 'file', key: batch });
  if (!isOurs) countUnread();
}

function countUnread() {
  if (panel.value !== 'chat') unread.value++;
}
effect(() => {
  if (panel.value === 'chat') unread.value = 0;
});

export function clearTimeline(): void {
  entries.value = [];
  transfers.value = new Map();
  unread.value = 0;
  replyTo.value = undefined;
}
