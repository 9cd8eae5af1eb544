/** Which own message is being edited; what was typed is kept when the message is deleted meanwhile. */
import { type Signal, signal } from '@preact/signals';
import { toast } from '../../shared/components/toasts.js';
import type { ChatEvent, Message } from '../contract.js';
import { texts } from '../texts/workspace.js';
import type { DraftSender } from './draft-sender.js';
import type { Drafts } from './drafts.js';

/** Key of the draft of an edit. */
export const editKey = (messageId: string): string => `edit:${messageId}`;

interface EditingDeps {
  readonly drafts: Drafts;
  readonly draftSender: Pick<DraftSender, 'cancel'>;
}

export function createEditing({ drafts, draftSender }: EditingDeps) {
  /** As it was when the edit began. */
  const editing: Signal<Message | undefined> = signal(undefined);

  /** Moves what was typed to the message box when the message, or its whole thread, is deleted. */
  function onEvent(event: ChatEvent): void {
    const message = editing.peek();
    const { type } = event;
    if (!message || (type !== 'DELETE_MESSAGE' && type !== 'DELETE_DM_MESSAGE' && type !== 'DELETE_THREAD_REPLY'))
      return;
    const { id } = event.payload;
    if (id !== message.id && id !== message.threadId) return;
    const text = drafts.of(editKey(message.id)).peek().content.trim();
    drafts.clear(editKey(message.id));
    editing.value = undefined;
    if (text === '' || text === message.content) return;
    const key = id === message.threadId ? message.channelId : (message.threadId ?? message.channelId);
    // Otherwise the text would be sent with it, unasked.
    draftSender.cancel(key);
    const { content } = drafts.of(key).peek();
    drafts.change(key, { content: content === '' ? text : `${content}\n${text}` });
    toast({ text: texts.editedMessageGone });
  }

  return { editing, onEvent };
}
