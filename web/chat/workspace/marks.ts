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
  storedMarks,
  type Unread,
} from '../state/unread.js';
import { createUnreadCounter } from '../state/unread-counter.js';
import type { Store } from './store.js';

export interface ReadMarks {
  readonly marks: ReadonlySignal<Marks>;
  /** By channel and conversation with something unread. */
  readonly unread: ReadonlySignal<ReadonlyMap<string, Unread>>;
  /** Parents of threads with unread replies. */
  readonly threads: ReadonlySignal<readonly Message[]>;
  /** Number of unread mentions, direct messages and threads, without muted places. */
  readonly forUser: ReadonlySignal<number>;
  read(key: string, at: number): void;
  /** Makes a message and everything after it unread. */
  unreadFrom(key: string, at: number): void;
  setMuted(placeId: string, isMuted: boolean): void;
  start(): () => void;
}

export function createMarks(userId: string, store: Store): ReadMarks {
  const name = userKey(userId, 'marks');
  const storage = stored<unknown>(name, null);
  const readStored = () => storedMarks(storage.get());
  const marks = signal(readStored() ?? newMarks(Date.now()));
  if (readStored() === null) save(marks.value);

  /** Marks that cannot be stored must not be replaced by older ones. */
  function save(next: Marks) {
    if (!storage.set(next)) storage.remove();
  }

  /** Reads before it writes: another tab may have written. */
  function change(update: (marks: Marks) => Marks) {
    const current = readStored() ?? marks.peek();
    const updated = update(current);
    marks.value = updated;
    if (updated !== current) save(updated);
  }

  const counter = createUnreadCounter(userId);
  const unread = computed(() => counter.unread(store.state.value, marks.value));
  const threads = computed(() => counter.threads(store.state.value, marks.value));

  return {
    marks,
    unread,
    threads,
    forUser: computed(() => {
      let count = threads.value.length;
      for (const [id, { mentions }] of unread.value) if (!marks.value.muted.includes(id)) count += mentions;
      return count;
    }),
    read: (key, at) => change((current) => markRead(current, key, at)),
    unreadFrom: (key, at) => change((current) => markUnread(current, key, at)),
    setMuted: (placeId, isMuted) =>
      change((current) => {
        const others = current.muted.filter((id) => id !== placeId);
        return { ...current, muted: isMuted ? [...others, placeId] : others };
      }),
    start() {
      const onStorage = ({ key }: StorageEvent) => {
        if (key === name) marks.value = readStored() ?? marks.peek();
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
}

export const unreadIn = (marks: ReadMarks, placeId: string): Unread =>
  marks.unread.value.get(placeId) ?? NOTHING_UNREAD;
