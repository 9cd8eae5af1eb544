/** Lists of participants and waiting people, with their moderation buttons. */
import { element, type ListEntry, list } from '../shared/dom.js';
import type { Action, ClientMessage } from './messages.js';
import { nameWithBadges } from './names.js';
import type { Person } from './room.js';

export interface Row extends Person {
  readonly isMe: boolean;
  /** Whether we are a moderator. */
  readonly canModerate: boolean;
}

/** Badges shown beside a name. */
export const badgesOf = ({ isMe, isModerator, isMuted, isHandRaised }: Omit<Row, 'canModerate'>) => [
  isMe && 'you',
  isModerator && 'moderator',
  isMuted && 'muted',
  isHandRaised && '✋',
];

export interface PeopleOptions {
  send(message: ClientMessage): unknown;
  sendFile(targetId: string, file: File): void;
}

export function createPeople(container: HTMLElement, { send, sendFile }: PeopleOptions) {
  const act = (targetId: string, action: Action) => send({ type: 'moderator-action', targetId, action });

  function show(id: string): ListEntry<Row> {
    const who = element('span', { className: 'who' });
    const fileInput = element('input', { type: 'file', hidden: true, 'aria-label': 'File' });
    const file = element('button', { className: 'small', textContent: 'Send file' });
    file.onclick = () => fileInput.click();
    fileInput.onchange = () => {
      for (const each of fileInput.files ?? []) sendFile(id, each);
      fileInput.value = '';
    };
    const mute = element('button', { className: 'small' });
    const promote = element('button', { className: 'small', textContent: 'Make moderator' });
    const kick = element('button', { className: 'small danger', textContent: 'Remove' });
    promote.onclick = () => act(id, 'make-moderator');
    kick.onclick = () => act(id, 'kick');
    const actions = element('span', { className: 'doing' }, file, fileInput, mute, promote, kick);
    return {
      element: element('li', { className: 'person', 'data-id': id }, who, actions),
      update(row) {
        const { name, isMe, canModerate, isModerator, isMuted } = row;
        who.replaceChildren(...nameWithBadges(name, ...badgesOf(row), row.isDisconnected && 'connection lost'));
        actions.hidden = isMe;
        mute.textContent = isMuted ? 'Unmute' : 'Mute';
        mute.onclick = () => act(id, isMuted ? 'unmute' : 'mute');
        mute.hidden = kick.hidden = !canModerate;
        promote.hidden = !canModerate || isModerator;
        for (const button of [file, mute, promote, kick])
          button.setAttribute('aria-label', `${button.textContent}: ${name}`);
      },
    };
  }
  return list<Row>(container, show);
}

export function createWaiting(container: HTMLElement, send: PeopleOptions['send']) {
  return list<string>(container, (targetId) => {
    const who = element('span', { className: 'who' });
    const admit = element('button', { className: 'small main', textContent: 'Admit' });
    const reject = element('button', { className: 'small danger', textContent: 'Reject' });
    const reason = element('input', { maxLength: 200, placeholder: 'Reason (shown to them)' });
    admit.onclick = () => send({ type: 'admit-user', targetId });
    reject.onclick = () => send({ type: 'reject-user', targetId, reason: reason.value.trim() });
    return {
      element: element('li', { className: 'waiter', 'data-id': targetId }, who, admit, reject, reason),
      update(name) {
        who.replaceChildren(...nameWithBadges(name));
        for (const button of [admit, reject]) button.setAttribute('aria-label', `${button.textContent}: ${name}`);
        reason.setAttribute('aria-label', `Reason for rejecting ${name}`);
      },
    };
  });
}
