/** What was typed and not sent, kept per place in the browser. */
import { type Signal, signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';
import type { Attachment, MessageInput } from '../contract.js';
import { userKey } from '../session.js';
import { storedInput } from '../state/stored-input.js';

export interface Draft extends MessageInput {
  readonly attachments: readonly Attachment[];
}

export const EMPTY_DRAFT: Draft = { content: '', attachments: [], images: [], quotedMessageId: null };

export const isEmpty = ({ content, attachments, images }: MessageInput): boolean =>
  content.trim() === '' && attachments.length === 0 && images.length === 0;

export type Drafts = ReturnType<typeof createDrafts>;

/** `key` is that of a timeline, or `edit:` with the id of a message being edited. */
export function createDrafts(userId: string) {
  const signals = new Map<string, Signal<Draft>>();
  const storedDraft = (key: string) => stored<unknown>(userKey(userId, `draft.${key}`), null);

  function of(key: string): Signal<Draft> {
    const existing = signals.get(key);
    if (existing) return existing;
    const created = signal<Draft>(storedInput(storedDraft(key).get()));
    signals.set(key, created);
    return created;
  }

  function set(key: string, draft: Draft) {
    of(key).value = draft;
    if (isEmpty(draft) && draft.quotedMessageId === null) storedDraft(key).remove();
    else storedDraft(key).set(draft);
  }

  return {
    of,
    set,
    change: (key: string, changes: Partial<Draft>) => set(key, { ...of(key).peek(), ...changes }),
    clear: (key: string) => set(key, EMPTY_DRAFT),
  };
}
