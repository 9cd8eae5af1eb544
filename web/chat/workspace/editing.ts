/** Which own message is being edited, also after a reload; what was typed is kept when it is deleted meanwhile. */
import { effect, type Signal, signal } from '@preact/signals';
import { ApiError } from '../../shared/api/http.js';
import { toast } from '../../shared/components/toasts.js';
import { stored } from '../../shared/storage.js';
import type { ChatEvent, Message } from '../contract.js';
import { userKey } from '../session.js';
import { texts } from '../texts/workspace.js';
import type { Actions } from './actions.js';
import type { DraftSender } from './draft-sender.js';
import type { Drafts } from './drafts.js';

/** Key of the draft of an edit. */
export const editKey = (messageId: string): string => `edit:${messageId}`;

interface EditingDeps {
  readonly userId: string;
  readonly drafts: Drafts;
  readonly draftSender: Pick<DraftSender, 'cancel'>;
  readonly actions: Pick<Actions, 'history'>;
}

export function createEditing({ userId, drafts, draftSender, actions }: EditingDeps) {
  /** The message that was being edited in this tab before a reload. */
  const saved = stored<Message | null>(userKey(userId, 'editing'), null, () => sessionStorage);
  const restored = saved.get();
  /** As it was when the edit began. */
  const editing: Signal<Message | undefined> = signal(typeof restored?.id === 'string' ? restored : undefined);
  effect(() => (editing.value ? void saved.set(editing.value) : saved.remove()));

  function onEvent(event: ChatEvent): void {
    const message = editing.peek();
    if (!message) return;
    const { type } = event;
    if (type === 'RESET' || type === 'CONNECTED') void check(message);
    if (type !== 'DELETE_MESSAGE' && type !== 'DELETE_DM_MESSAGE' && type !== 'DELETE_THREAD_REPLY') return;
    const { id } = event.payload;
    if (id === message.id || id === message.threadId) moveToMessageBox(message, id === message.threadId);
  }

  /** After a reload, or a gap in the events, the message or its whole thread may be gone. */
  async function check(message: Message): Promise<void> {
    const { id, threadId } = message;
    const isThreadGone = threadId !== undefined && (await isGone(threadId));
    if ((isThreadGone || (await isGone(id))) && editing.peek() === message) moveToMessageBox(message, isThreadGone);
  }

  const isGone = (id: string): Promise<boolean> =>
    actions.history({ id }).then(
      () => false,
      (error: unknown) => error instanceof ApiError && error.status === 404,
    );

  function moveToMessageBox(message: Message, isThreadGone: boolean): void {
    const text = drafts.of(editKey(message.id)).peek().content.trim();
    drafts.clear(editKey(message.id));
    editing.value = undefined;
    if (text === '' || text === message.content) return;
    const key = isThreadGone ? message.channelId : (message.threadId ?? message.channelId);
    // Otherwise the text would be sent with it, unasked.
    draftSender.cancel(key);
    const { content } = drafts.of(key).peek();
    drafts.change(key, { content: content === '' ? text : `${content}\n${text}` });
    toast({ text: texts.editedMessageDeleted });
  }

  return { editing, onEvent };
}
