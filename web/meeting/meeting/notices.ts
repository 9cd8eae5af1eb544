/** Handles messages that are not room state: passes them on, or describes them in words. */
import { dismissToasts, toast } from '../../shared/components/toasts.js';
import type { Files } from '../files/files.js';
import type { Outbox } from '../messages/outbox.js';
import { addMessage, addNotice } from '../messages/timeline.js';
import type { Action, ServerMessage, Signal } from '../protocol/messages.js';
import { showReaction } from '../stage/reactions.js';
import { errorText, texts } from '../texts.js';
import { announce } from './announcer.js';
import { panel } from './panel.js';
import { switchMicrophone } from './switches.js';

export interface NoticeOptions {
  readonly outbox: Pick<Outbox, 'confirm'>;
  readonly files: Pick<Files, 'onMessage' | 'onParticipantLeft'>;
  readonly me: () => string | undefined;
  readonly nameOf: (id: string) => string;
  onSignal(from: string, signal: Signal): void;
}

const openChat = { label: texts.chat.show, run: () => (panel.value = 'chat') };
const MAX_PREVIEW = 90;

panel.subscribe((open) => {
  if (open === 'chat') dismissToasts(openChat);
});

export function createNotices({ outbox, files, me, nameOf, onSignal }: NoticeOptions) {
  const { notices } = texts;

  /** Shows what arrived in the chat while that is closed; the open one announces it itself. */
  function preview(text: string) {
    if (panel.value === 'chat') return;
    const short = text.length > MAX_PREVIEW ? `${text.slice(0, MAX_PREVIEW)}…` : text;
    toast({ text: short, action: openChat });
  }

  function onAction(action: Action, who: string) {
    if (action === 'unmute') {
      // The microphone stays closed until we agree (see `switches.ts`).
      const accept = { label: texts.controls.unmute, run: () => void switchMicrophone(true) };
      toast({ text: notices.asksToUnmute(who), action: accept });
    } else {
      const text = {
        mute: notices.mutedYou(who),
        'make-moderator': notices.moderatorNow,
        kick: notices.removedYou(who),
      }[action];
      addNotice(text);
      toast({ text });
    }
  }

  return (message: ServerMessage) => {
    const { participantId: id } = message;
    const isMe = id === me();
    const who = nameOf(id);
    switch (message.type) {
      case 'chat':
        if (isMe) outbox.confirm(message.text);
        else preview(texts.chat.from(who, message.text));
        return addMessage(message, isMe);
      case 'offer':
      case 'answer':
      case 'ice-candidate':
        return onSignal(id, message);
      case 'file-offer':
        files.onMessage(message);
        return preview(texts.files.offers(who));
      case 'file-answer':
      case 'file-chunk':
        return files.onMessage(message);
      case 'reaction':
        announce(texts.chat.from(who, message.reaction));
        return showReaction(id, message.reaction);
      case 'participant-joined':
        return addNotice(isMe ? notices.inside : notices.joined(message.name));
      case 'participant-left':
        files.onParticipantLeft(id);
        return addNotice(notices.left(who));
      case 'waiting-room':
        // Elsewhere a note on the stage says it.
        return isMe || panel.value !== 'people' ? undefined : announce(texts.waiting.knocking(message.name));
      case 'raise-hand':
        return announce(notices.raisedHand(who));
      case 'room-locked':
        return addNotice(notices.locked);
      case 'room-unlocked':
        return addNotice(notices.unlocked);
      case 'recording-started':
        return addNotice(isMe ? notices.recordingByYou : notices.recording(who));
      case 'recording-stopped':
        return addNotice(notices.recordingEnded);
      case 'moderator-action':
        return onAction(message.action, who);
      case 'error': {
        toast({ text: errorText(message), tone: 'bad' });
        return;
      }
      default:
    }
  };
}
