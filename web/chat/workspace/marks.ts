/** Read marks of the user, kept in the browser and shared by its tabs. */
import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';
import type { Message } from '../contract.js';
import { userKey } from '../session.js';
import {
  type Marks,
  markRead,
  markUnread,
  NOTHING_UNREAD,
  newMarks,
  type Unread,
  unreadOf,
  unreadThreads,
} from '../state/unread.js';
import type { Store } from './store.js';

export interface ReadMarks {
  readonly marks: ReadonlySignal<Marks>;
  /** By channel and conversation with something unread. */
  readonly unread: ReadonlySignal<ReadonlyMap<string, Unread>>;
  /** Parents of threads with unread replies. */
  readonly threads: ReadonlySignal<readonly Message[]>;
  read(key: string, at: number): void;
  /** Makes a message and everything after it unread. */
  unreadFrom(key: string, at: number): void;
  setMuted(placeId: string, isMuted: boolean): void;
  start(): () => void;
}

export function createMarks(userId: string, store: Store): ReadMarks {
  const name = userKey(userId, 'marks');
  const kept = stored<Marks | null>(name, null);
  const marks = signal(kept.get() ?? newMarks(Date.now()));
  if (kept.get() === null) kept.set(marks.value);

  /** Reads before it writes: another tab may have written. */
  function change(update: (marks: Marks) => Marks) {
    const current = kept.get() ?? marks.peek();
    const updated = update(current);
    marks.value = updated;
    if (updated !== current) kept.set(updated);
  }

  const unread = computed(() => {
    const state = store.state.value;
    const places = [...state.channels.keys(), ...state.conversations.keys()];
    const counted = places.map((id) => [id, unreadOf(state, marks.value, id, userId)] as const);
    return new Map(counted.filter(([, { count }]) => count > 0));
  });

  return {
    marks,
    unread,
    threads: computed(() => unreadThreads(store.state.value, marks.value, userId)),
    read: (key, at) => change((current) => markRead(current, key, at)),
    unreadFrom: (key, at) => change((current) => markUnread(current, key, at)),
    setMuted: (placeId, isMuted) =>
      change((current) => {
        const others = current.muted.filter((id) => id !== placeId);
        return { ...current, muted: isMuted ? [...others, placeId] : others };
      }),
    start() {
      const onStorage = ({ key }: StorageEvent) => {
        if (key === name) marks.value = kept.get() ?? marks.peek();
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
}

export const unreadIn = (marks: ReadMarks, placeId: string): Unread =>
  marks.unread.value.get(placeId) ?? NOTHING_UNREAD;
