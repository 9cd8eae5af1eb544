/** Who is there and who waits, and what can be done about each of them. */
import { element, list, type Shown } from '../shared/dom.js';
import type { Action, ClientMessage } from './messages.js';
import { named } from './names.js';
import type { Person } from './room.js';

export interface Row extends Person {
  readonly isMe: boolean;
  /** Whether we may moderate them. */
  readonly isOurs: boolean;
}

/** What is said of somebody beside their name. */
export const marksOf = ({ isMe, isModerator, isMuted, isHandRaised }: Omit<Row, 'isOurs'>) => [
  isMe && 'you',
  isModerator && 'moderator',
  isMuted && 'muted',
  isHandRaised && '✋',
];

export interface PeopleOptions {
  say(message: ClientMessage): unknown;
  sendFile(targetId: string, file: File): void;
}

export function createPeople(container: HTMLElement, { say, sendFile }: PeopleOptions) {
  const act = (targetId: string, action: Action) => say({ type: 'moderator-action', targetId, action });

  function show(id: string): Shown<Row> {
    const who = element('span', { className: 'who' });
    const chosen = element('input', { type: 'file', hidden: true, 'aria-label': 'File' });
    const file = element('button', { className: 'small', textContent: 'Send file' });
    file.onclick = () => chosen.click();
    chosen.onchange = () => {
      for (const each of chosen.files ?? []) sendFile(id, each);
      chosen.value = '';
    };
    const mute = element('button', { className: 'small' });
    const promote = element('button', { className: 'small', textContent: 'Make moderator' });
    const kick = element('button', { className: 'small danger', textContent: 'Remove' });
    promote.onclick = () => act(id, 'make-moderator');
    kick.onclick = () => act(id, 'kick');
    const doing = element('span', { className: 'doing' }, file, chosen, mute, promote, kick);
    return {
      element: element('li', { className: 'person', 'data-id': id }, who, doing),
      update(row) {
        const { name, isMe, isOurs, isModerator, isMuted } = row;
        who.replaceChildren(...named(name, ...marksOf(row), row.isLost && 'connection lost'));
        doing.hidden = isMe;
        mute.textContent = isMuted ? 'Unmute' : 'Mute';
        mute.onclick = () => act(id, isMuted ? 'unmute' : 'mute');
        mute.hidden = kick.hidden = !isOurs;
        promote.hidden = !isOurs || isModerator;
        for (const button of [file, mute, promote, kick])
          button.setAttribute('aria-label', `${button.textContent}: ${name}`);
      },
    };
  }
  return list<Row>(container, show);
}

export function createWaiting(container: HTMLElement, say: PeopleOptions['say']) {
  return list<string>(container, (targetId) => {
    const who = element('span', { className: 'who' });
    const admit = element('button', { className: 'small main', textContent: 'Admit' });
    const reject = element('button', { className: 'small danger', textContent: 'Reject' });
    const reason = element('input', { maxLength: 200, placeholder: 'Why not (they are told)' });
    admit.onclick = () => say({ type: 'admit-user', targetId });
    reject.onclick = () => say({ type: 'reject-user', targetId, reason: reason.value.trim() });
    return {
      element: element('li', { className: 'waiter', 'data-id': targetId }, who, admit, reject, reason),
      update(name) {
        who.replaceChildren(...named(name));
        for (const button of [admit, reject]) button.setAttribute('aria-label', `${button.textContent}: ${name}`);
        reason.setAttribute('aria-label', `Why ${name} is not let in`);
      },
    };
  });
}
