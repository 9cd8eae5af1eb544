/** Outbox of chat messages the service has not confirmed: queued while offline, sent in order. */
import { byId, element, list } from '../shared/dom.js';
import type { ChatText } from './messages.js';

export interface PendingMessage extends ChatText {
  /** `sent`: not confirmed yet. `unsure`: the connection was lost before the confirmation. */
  readonly status: 'queued' | 'sent' | 'unsure';
  /** True once the confirmation takes long enough to be shown. */
  readonly isSlow?: boolean;
}

export interface OutboxOptions {
  /** Returns false if there is no connection. */
  send(message: ChatText): boolean;
  /** Announces to screen readers. */
  announce(notice: string): void;
}

const MAX_QUEUE = 50;
const SLOW_MS = 1000;

const STATUS = {
  queued: 'Will be sent when you are reconnected',
  sent: 'Sending…',
  unsure: 'May not have been sent',
};

export function createOutbox({ send, announce }: OutboxOptions) {
  const container = byId('outbox');
  const lobbySection = byId('unsent');
  const pending = new Map<string, PendingMessage>();
  let roomId = '';
  let isConnected = false;
  let count = 0;

  function show() {
    const visible = new Map([...pending].filter(([, { status, isSlow }]) => status !== 'sent' || isSlow));
    container.hidden = lobbySection.hidden = visible.size === 0;
    showInMeeting(visible);
    showInLobby(visible);
  }

  function change(id: string, next: Partial<PendingMessage>) {
    const each = pending.get(id);
    if (each) pending.set(id, { ...each, ...next });
  }

  /** Sends queued messages while there is a connection. */
  function flush() {
    for (const [id, { status, text, replyTo }] of pending) {
      if (!isConnected || status !== 'queued') continue;
      if (!send({ text, ...(replyTo !== undefined && { replyTo }) })) break;
      change(id, { status: 'sent', isSlow: false });
      setTimeout(() => {
        change(id, { isSlow: true });
        show();
      }, SLOW_MS);
    }
    show();
  }

  function queue(message: ChatText) {
    pending.set(String(++count), { ...message, status: 'queued' });
    flush();
    container.querySelector('li:last-child')?.scrollIntoView({ block: 'nearest' });
  }

  function discard(id: string) {
    pending.delete(id);
    show();
  }

  const showInMeeting = list<PendingMessage>(container.querySelector('ul')!, (id) => {
    const text = element('span', { className: 'text' });
    const note = element('span', { className: 'quiet' });
    const resend = element('button', { className: 'small', textContent: 'Send again' });
    const drop = element('button', { className: 'small', textContent: 'Discard' });
    drop.onclick = () => discard(id);
    return {
      element: element('li', {}, text, element('span', { className: 'line' }, note, resend, drop)),
      update(each) {
        const { status } = each;
        text.textContent = each.text;
        note.textContent = STATUS[status];
        resend.hidden = status !== 'unsure';
        drop.hidden = status === 'sent';
        resend.onclick = () => {
          pending.delete(id);
          queue({ text: each.text, ...(each.replyTo !== undefined && { replyTo: each.replyTo }) });
        };
      },
    };
  });

  const showInLobby = list<PendingMessage>(lobbySection.querySelector('ul')!, () => {
    const item = element('li', { className: 'text' });
    return { element: item, update: ({ text }) => (item.textContent = text) };
  });

  return {
    /** Messages to restore after a reload of the page. */
    get pending(): readonly PendingMessage[] {
      return Array.from(pending.values(), (each) => (each.status === 'sent' ? { ...each, status: 'unsure' } : each));
    },
    /** Drops messages for another room. */
    enter(room: string, restored: readonly PendingMessage[] = []) {
      if (room !== roomId) pending.clear();
      roomId = room;
      for (const each of restored) pending.set(String(++count), each);
      show();
    },
    /** Returns false if the queue is full. */
    add(message: ChatText): boolean {
      if (pending.size >= MAX_QUEUE) return false;
      queue(message);
      if (!isConnected) announce('You are offline. Your message will be sent when you are reconnected.');
      return true;
    },
    /** Removes a message that the service has sent to everyone. */
    confirm(text: string) {
      const found = [...pending].find(([, each]) => each.status !== 'queued' && each.text === text);
      if (found) discard(found[0]);
    },
    setConnected(now: boolean) {
      if (now === isConnected) return;
      isConnected = now;
      const sent = [...pending].filter(([, { status }]) => status === 'sent');
      for (const [id] of sent) change(id, { status: 'unsure' });
      if (sent.length > 0) announce('The connection was lost. Your last message may not have been sent.');
      flush();
    },
  };
}
