/** Handles messages that are not room state: passes them on, or describes them in words. */
import type { createChatPanel } from './chat-panel.js';
import { errorText } from './error-texts.js';
import type { Files } from './files.js';
import type { ServerMessage } from './messages.js';
import type { createOutbox } from './outbox.js';
import type { Peers } from './peers.js';

export interface NoticeOptions {
  readonly chat: ReturnType<typeof createChatPanel>;
  readonly outbox: Pick<ReturnType<typeof createOutbox>, 'confirm'>;
  readonly files: Files;
  readonly peers: () => Peers | undefined;
  readonly me: () => string | undefined;
  readonly nameOf: (id: string) => string;
  /** Announces to screen readers. */
  announce(what: string): void;
  react(id: string, reaction: string): void;
}

export function createNotices({ chat, outbox, files, peers, me, nameOf, announce, react }: NoticeOptions) {
  return (message: ServerMessage) => {
    const { participantId: id } = message;
    const isMe = id === me();
    const who = isMe ? 'You' : nameOf(id);
    switch (message.type) {
      case 'chat':
        if (isMe) outbox.confirm(message.text);
        return chat.addMessage(message);
      case 'offer':
      case 'answer':
      case 'ice-candidate':
        return peers()?.onSignal(id, message);
      case 'file-offer':
        announce(`${who} offers you a file.`);
        return files.onMessage(message);
      case 'file-answer':
      case 'file-chunk':
        return files.onMessage(message);
      case 'reaction':
        announce(`${who}: ${message.reaction}`);
        return react(id, message.reaction);
      case 'participant-joined':
        return chat.addNotice(isMe ? 'You are in the meeting.' : `${message.name} joined.`);
      case 'participant-left':
        files.onParticipantLeft(id);
        return chat.addNotice(`${who} left.`);
      case 'waiting-room':
        return isMe ? undefined : announce(`${message.name} is waiting to be admitted.`);
      case 'raise-hand':
        return announce(`${who} raised a hand.`);
      case 'room-locked':
        return chat.addNotice('The meeting is locked.');
      case 'room-unlocked':
        return chat.addNotice('The meeting is unlocked.');
      case 'recording-started':
        return chat.addNotice(`${who} announced a recording.`);
      case 'recording-stopped':
        return chat.addNotice('The recording has stopped.');
      case 'moderator-action':
        return chat.addNotice(ACTION_TEXTS[message.action](who));
      case 'error':
        return chat.addNotice(errorText(message));
      default:
    }
  };
}

const ACTION_TEXTS = {
  mute: (who: string) => `${who} muted you.`,
  unmute: (who: string) => `${who} unmuted you.`,
  'make-moderator': () => 'You are a moderator now.',
  kick: (who: string) => `${who} removed you.`,
};
