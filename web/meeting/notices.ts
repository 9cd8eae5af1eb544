/** What is heard and is no part of the room's state: where it goes, and how it is told in words. */
import type { createTalk } from './chat-panel.js';
import { inWords } from './error-texts.js';
import type { Files } from './files.js';
import type { ServerMessage } from './messages.js';
import type { createOutbox } from './outbox.js';
import type { Peers } from './peers.js';

export interface Happenings {
  readonly chat: ReturnType<typeof createTalk>;
  readonly outbox: Pick<ReturnType<typeof createOutbox>, 'confirm'>;
  readonly files: Files;
  readonly peers: () => Peers | undefined;
  readonly me: () => string | undefined;
  readonly nameOf: (id: string) => string;
  /** For those who do not see it. */
  aloud(what: string): void;
  react(id: string, reaction: string): void;
}

export function createHappenings({ chat, outbox, files, peers, me, nameOf, aloud, react }: Happenings) {
  return (message: ServerMessage) => {
    const { participantId: id } = message;
    const isMe = id === me();
    const who = isMe ? 'You' : nameOf(id);
    switch (message.type) {
      case 'chat':
        if (isMe) outbox.confirm(message.text);
        return chat.heard(message);
      case 'offer':
      case 'answer':
      case 'ice-candidate':
        return peers()?.heard(id, message);
      case 'file-offer':
        aloud(`${who} offers you a file.`);
        return files.heard(message);
      case 'file-answer':
      case 'file-chunk':
        return files.heard(message);
      case 'reaction':
        aloud(`${who}: ${message.reaction}`);
        return react(id, message.reaction);
      case 'participant-joined':
        return chat.happened(isMe ? 'You are in the meeting.' : `${message.name} is here.`);
      case 'participant-left':
        files.left(id);
        return chat.happened(`${who} left.`);
      case 'waiting-room':
        return isMe ? undefined : aloud(`${message.name} waits to be let in.`);
      case 'raise-hand':
        return aloud(`${who} raised a hand.`);
      case 'room-locked':
        return chat.happened('The meeting is locked.');
      case 'room-unlocked':
        return chat.happened('The meeting is open.');
      case 'recording-started':
        return chat.happened(`${who} announced a recording.`);
      case 'recording-stopped':
        return chat.happened('The recording is over.');
      case 'moderator-action':
        return chat.happened(ACTED[message.action](who));
      case 'error':
        return chat.happened(inWords(message));
      default:
    }
  };
}

const ACTED = {
  mute: (who: string) => `${who} muted you.`,
  unmute: (who: string) => `${who} unmuted you.`,
  'make-moderator': () => 'You are a moderator now.',
  kick: (who: string) => `${who} removed you.`,
};
