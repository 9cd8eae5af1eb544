/** Chat panel: messages, notices, and file transfers. */
import { byId, element } from '../shared/dom.js';
import type { Transfer } from './files.js';
import type { Chat, ChatText } from './messages.js';

export interface ChatPanelOptions {
  /** Returns false if the message queue is full. */
  send(message: ChatText): boolean;
  answer(transferId: string, accepted: boolean): void;
}

/** Lines shown; the oldest are removed. */
const MAX_LINES = 500;
const MAX_QUOTE_LENGTH = 80;

export function createChatPanel({ send, answer }: ChatPanelOptions) {
  const log = byId('log');
  const lines = log.querySelector('ol')!;
  // Makes the log scrollable by keyboard.
  log.tabIndex = 0;
  const text = byId<HTMLInputElement>('text');
  const replying = byId('replying');
  const messagesById = new Map<string, Chat>();
  const files = new Map<string, HTMLElement>();
  let replyTo: Chat | undefined;

  let isScrolledToEnd = true;
  log.onscroll = () => {
    isScrolledToEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  };
  function followEnd() {
    if (isScrolledToEnd) log.scrollTop = log.scrollHeight;
  }
  // The log shrinks when the outbox below it appears.
  new ResizeObserver(followEnd).observe(log);

  function add(line: HTMLElement) {
    lines.append(line);
    if (lines.childElementCount > MAX_LINES) lines.firstElementChild?.remove();
    followEnd();
  }

  function reply(to: Chat | undefined) {
    replyTo = to;
    replying.hidden = !to;
    replying.querySelector('span')!.textContent = to ? `Reply to ${quoted(to)}` : '';
    if (to) text.focus();
  }
  replying.querySelector('button')!.onclick = () => reply(undefined);

  byId<HTMLFormElement>('say').onsubmit = (event) => {
    event.preventDefault();
    const content = text.value.trim();
    if (content && !send({ text: content, ...(replyTo && { replyTo: replyTo.messageId }) }))
      return addNotice(
        'Not sent: too many messages are waiting for the connection. Your text is still in the input field.',
      );
    text.value = '';
    reply(undefined);
  };

  function addNotice(what: string) {
    add(element('li', { className: 'quiet', textContent: what }));
  }

  return {
    addNotice,
    addMessage(message: Chat) {
      messagesById.set(message.messageId, message);
      const quotedMessage = message.replyTo === undefined ? undefined : messagesById.get(message.replyTo);
      const replyButton = element('button', { textContent: 'Reply', 'aria-label': `Reply to ${message.name}` });
      replyButton.onclick = () => reply(message);
      const head = element(
        'div',
        { className: 'line' },
        element('strong', { textContent: message.name }),
        element('time', { className: 'quiet', textContent: clock(message.timestamp) }),
        replyButton,
      );
      const quote = quotedMessage ? [element('blockquote', { textContent: quoted(quotedMessage) })] : [];
      const body = element('div', { className: 'text', textContent: message.text });
      add(element('li', {}, head, ...quote, body));
    },
    file(transfer: Transfer, name: string) {
      const line = fileLine(transfer, name, answer);
      const existing = files.get(transfer.id);
      files.set(transfer.id, line);
      if (existing) existing.replaceWith(line);
      else add(line);
    },
    clear() {
      lines.replaceChildren();
      messagesById.clear();
      files.clear();
      reply(undefined);
    },
  };
}

function fileLine(transfer: Transfer, name: string, answer: ChatPanelOptions['answer']): HTMLElement {
  const { id, isOurs, status, progress, size, file } = transfer;
  const what = isOurs ? `${transfer.name} to ${name}` : `${transfer.name} from ${name}`;
  const line = element(
    'li',
    { className: 'file', 'data-status': status, 'data-transfer': id },
    `${what} (${inBytes(size)})`,
  );
  if (status === 'offered' && !isOurs) {
    const accept = element('button', { className: 'small main', textContent: 'Accept' });
    const decline = element('button', { className: 'small', textContent: 'Decline' });
    accept.onclick = () => answer(id, true);
    decline.onclick = () => answer(id, false);
    line.append(accept, decline);
  } else if (status === 'under way') {
    line.append(element('progress', { value: progress, 'aria-label': what }));
  } else if (file) {
    line.append(element('a', { href: URL.createObjectURL(file), download: transfer.name, textContent: 'Save' }));
  } else line.append(element('span', { className: 'quiet', textContent: STATUS[status] }));
  return line;
}

const STATUS = {
  offered: 'offered',
  'under way': '',
  done: 'delivered',
  declined: 'declined',
  failed: 'failed',
};

const clock = (at: number) => new Date(at).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });

const quoted = ({ name, text }: Chat) =>
  `${name}: ${text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}…` : text}`;

function inBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB'];
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}
