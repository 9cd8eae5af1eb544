/** Chat messages that the service has not confirmed yet: they wait for the connection, and are sent in order. */
import { byId, element, list } from '../shared/dom.js';
import type { ChatText } from './messages.js';

export interface Unsent extends ChatText {
  /** `sent`: not confirmed yet. `unsure`: the connection was lost before it was confirmed. */
  readonly status: 'queued' | 'sent' | 'unsure';
  /** Whether confirming it takes long enough to be shown. */
  readonly isSlow?: boolean;
}

export interface OutboxOptions {
  /** Returns false when there is no connection. */
  send(message: ChatText): boolean;
  /** For those who do not see it. */
  aloud(notice: string): void;
}

const LARGEST_QUEUE = 50;
const SLOW_MS = 1000;

const STATUS = {
  queued: 'Sent when the connection is back',
  sent: 'Sending…',
  unsure: 'Perhaps not sent',
};

export function createOutbox({ send, aloud }: OutboxOptions) {
  const container = byId('outbox');
  const leftOver = byId('unsent');
  const unsent = new Map<string, Unsent>();
  let roomId = '';
  let isConnected = false;
  let count = 0;

  function show() {
    const shown = new Map([...unsent].filter(([, { status, isSlow }]) => status !== 'sent' || isSlow));
    container.hidden = leftOver.hidden = shown.size === 0;
    showInMeeting(shown);
    showInLobby(shown);
  }

  function change(id: string, next: Partial<Unsent>) {
    const each = unsent.get(id);
    if (each) unsent.set(id, { ...each, ...next });
  }

  /** Sends what is queued, as far as there is a connection. */
  function flush() {
    for (const [id, { status, text, replyTo }] of unsent) {
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
    unsent.set(String(++count), { ...message, status: 'queued' });
    flush();
    container.querySelector('li:last-child')?.scrollIntoView({ block: 'nearest' });
  }

  function discard(id: string) {
    unsent.delete(id);
    show();
  }

  const showInMeeting = list<Unsent>(container.querySelector('ul')!, (id) => {
    const text = element('span', { className: 'text' });
    const note = element('span', { className: 'quiet' });
    const again = element('button', { className: 'small', textContent: 'Send again' });
    const drop = element('button', { className: 'small', textContent: 'Discard' });
    drop.onclick = () => discard(id);
    return {
      element: element('li', {}, text, element('span', { className: 'line' }, note, again, drop)),
      update(each) {
        const { status } = each;
        text.textContent = each.text;
        note.textContent = STATUS[status];
        again.hidden = status !== 'unsure';
        drop.hidden = status === 'sent';
        again.onclick = () => {
          unsent.delete(id);
          queue({ text: each.text, ...(each.replyTo !== undefined && { replyTo: each.replyTo }) });
        };
      },
    };
  });

  const showInLobby = list<Unsent>(leftOver.querySelector('ul')!, () => {
    const item = element('li', { className: 'text' });
    return { element: item, update: ({ text }) => (item.textContent = text) };
  });

  return {
    /** What is to be kept over a reload of the page. */
    get unsent(): readonly Unsent[] {
      return Array.from(unsent.values(), (each) => (each.status === 'sent' ? { ...each, status: 'unsure' } : each));
    },
    /** Messages for another room are dropped. */
    enter(room: string, restored: readonly Unsent[] = []) {
      if (room !== roomId) unsent.clear();
      roomId = room;
      for (const each of restored) unsent.set(String(++count), each);
      show();
    },
    /** Returns false when the queue is full: the message is not taken. */
    add(message: ChatText): boolean {
      if (unsent.size >= LARGEST_QUEUE) return false;
      queue(message);
      if (!isConnected) aloud('There is no connection. Your message is sent when it is back.');
      return true;
    },
    /** The service has told everyone a message of ours. */
    confirm(text: string) {
      const found = [...unsent].find(([, each]) => each.status !== 'queued' && each.text === text);
      if (found) discard(found[0]);
    },
    connected(now: boolean) {
      if (now === isConnected) return;
      isConnected = now;
      const sent = [...unsent].filter(([, { status }]) => status === 'sent');
      for (const [id] of sent) change(id, { status: 'unsure' });
      if (sent.length > 0) aloud('The connection was lost. Your last message may not have been sent.');
      flush();
    },
  };
}
