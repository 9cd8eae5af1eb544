/** Sends drafts immediately, or when their uploads are complete, also if the user has changed the place by then. */
import { effect, signal, untracked } from '@preact/signals';
import type { Outgoing } from '../state/outbox.js';
import { type Drafts, EMPTY_DRAFT, isEmpty } from './drafts.js';
import type { Sending } from './sending.js';
import type { Uploads } from './uploads.js';

type Target = Pick<Outgoing, 'placeId' | 'threadId'>;

interface DraftSenderDeps {
  readonly drafts: Drafts;
  readonly uploads: Pick<Uploads, 'of'>;
  readonly sending: Pick<Sending, 'send'>;
}

export type DraftSender = ReturnType<typeof createDraftSender>;

export function createDraftSender({ drafts, uploads, sending }: DraftSenderDeps) {
  /** By key of the draft. */
  const waiting = signal<ReadonlyMap<string, Target>>(new Map());

  function cancel(key: string) {
    waiting.value = new Map([...waiting.peek()].filter(([each]) => each !== key));
  }

  /** Sends a draft, unless one of its uploads has failed. */
  function deliver(key: string, target: Target) {
    cancel(key);
    const { content, ...rest } = drafts.of(key).value;
    if (isEmpty({ content, ...rest }) || uploads.of(key).value.length > 0) return;
    sending.send(target, { ...rest, content: content.trim() });
    drafts.set(key, EMPTY_DRAFT);
  }

  return {
    /** Cancels a draft that waits for its uploads. */
    cancel,
    isWaiting: (key: string): boolean => waiting.value.has(key),
    send(target: Target) {
      waiting.value = new Map(waiting.peek()).set(target.threadId ?? target.placeId, target);
    },
    start: () =>
      effect(() => {
        for (const [key, target] of waiting.value)
          if (uploads.of(key).value.every(({ error }) => error !== undefined)) untracked(() => deliver(key, target));
      }),
  };
}
