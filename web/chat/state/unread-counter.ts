/** Counts what is unread again only where something has changed: events are many, and each changes one place. */
import type { Message } from '../contract.js';
import type { ChatState } from './chat-state.js';
import type { Timeline } from './timeline.js';
import { isUnreadThread, type Marks, readUpTo, threadsFor, type Unread, unreadOf } from './unread.js';

interface Counted {
  readonly timeline: Timeline | undefined;
  readonly lastMessageAt: number | null | undefined;
  readonly mark: number;
  readonly unread: Unread;
}

type Places = Pick<ChatState, 'timelines' | 'channels' | 'conversations'>;

/** Results stay the same objects as long as nothing in them changes. */
export function createUnreadCounter(userId: string) {
  let counted: ReadonlyMap<string, Counted> = new Map();
  let unread: ReadonlyMap<string, Unread> = new Map();
  let threads: readonly Message[] = [];
  const candidates = new WeakMap<Timeline, readonly Message[]>();

  function count(places: Places, marks: Marks, id: string): Counted {
    const timeline = places.timelines.get(id);
    const lastMessageAt = places.conversations.get(id)?.lastMessageAt;
    const mark = readUpTo(marks, id);
    const known = counted.get(id);
    if (known && known.timeline === timeline && known.lastMessageAt === lastMessageAt && known.mark === mark)
      return known;
    return { timeline, lastMessageAt, mark, unread: unreadOf(places, marks, id, userId) };
  }

  function candidatesIn(timeline: Timeline): readonly Message[] {
    const found = candidates.get(timeline) ?? threadsFor(timeline, userId);
    candidates.set(timeline, found);
    return found;
  }

  return {
    /** By channel and conversation with something unread. */
    unread(places: Places, marks: Marks): ReadonlyMap<string, Unread> {
      const ids = [...places.channels.keys(), ...places.conversations.keys()];
      const next = new Map(ids.map((id) => [id, count(places, marks, id)]));
      const isSame = next.size === counted.size && ids.every((id) => next.get(id) === counted.get(id));
      counted = next;
      if (isSame) return unread;
      unread = new Map([...next].flatMap(([id, each]) => (each.unread.count > 0 ? [[id, each.unread] as const] : [])));
      return unread;
    },

    /** Parents of threads in which the user takes part or is mentioned, with replies he has not read; newest first. */
    threads({ timelines }: Pick<ChatState, 'timelines'>, marks: Marks): readonly Message[] {
      const found = [...timelines.values()]
        .flatMap(candidatesIn)
        .filter((parent) => isUnreadThread(parent, marks))
        .sort((a, b) => (b.threadMeta?.lastReplyAt ?? 0) - (a.threadMeta?.lastReplyAt ?? 0));
      const isSame = found.length === threads.length && found.every((parent, index) => parent === threads[index]);
      if (!isSame) threads = found;
      return threads;
    },
  };
}
