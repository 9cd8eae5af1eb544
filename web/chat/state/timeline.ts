/** A loaded part of the messages of a channel, conversation or thread, oldest first, and pure changes of it. */
import type { Message } from '../contract.js';

export interface Timeline {
  readonly messages: readonly Message[];
  /** Whether the service has messages before the first one here. */
  readonly hasOlder: boolean;
  /** Whether the service has messages after the last one here: the reader has jumped back. */
  readonly hasNewer: boolean;
}

/** Index of a message, searched from the end, where most changes happen; -1 if it is not loaded. */
export function indexOf({ messages }: Timeline, id: string): number {
  for (let index = messages.length - 1; index >= 0; index--) if (messages[index]?.id === id) return index;
  return -1;
}

export const findMessage = (timeline: Timeline | undefined, id: string): Message | undefined =>
  timeline?.messages[indexOf(timeline, id)];

/** Adds a new message at the end, unless it is there or the end is not loaded. */
export function append(timeline: Timeline, message: Message): Timeline {
  if (timeline.hasNewer || indexOf(timeline, message.id) >= 0) return timeline;
  return { ...timeline, messages: [...timeline.messages, message] };
}

/** Changes one message; the same timeline if it is not loaded or stays as it is. */
export function change(timeline: Timeline, id: string, update: (message: Message) => Message): Timeline {
  const index = indexOf(timeline, id);
  const message = timeline.messages[index];
  const changed = message && update(message);
  return changed === message || !changed ? timeline : { ...timeline, messages: timeline.messages.with(index, changed) };
}

export function remove(timeline: Timeline, id: string): Timeline {
  const index = indexOf(timeline, id);
  return index < 0 ? timeline : { ...timeline, messages: timeline.messages.toSpliced(index, 1) };
}

/** Messages of a page that are not loaded yet. Indexes the page, as what is loaded may be long. */
function without(page: readonly Message[], loaded: readonly Message[]): readonly Message[] {
  const added = new Map(page.map((message) => [message.id, message]));
  for (const { id } of loaded) added.delete(id);
  return [...added.values()];
}

/** Adds a page of older messages; `isFull` pages may have more before them. */
export const prepend = (timeline: Timeline, page: readonly Message[], isFull: boolean): Timeline => ({
  ...timeline,
  messages: [...without(page, timeline.messages), ...timeline.messages],
  hasOlder: isFull,
});

/** Adds a page of newer messages. */
export const extend = (timeline: Timeline, page: readonly Message[], isFull: boolean): Timeline => ({
  ...timeline,
  messages: [...timeline.messages, ...without(page, timeline.messages)],
  hasNewer: isFull,
});

/**
 * The newest page, as read just now: what is loaded stays before it if both overlap, so that a reader who has scrolled up
 * stays where he is.
 */
export function refresh(timeline: Timeline | undefined, page: readonly Message[], isFull: boolean): Timeline {
  const first = page[0];
  const overlap = timeline && first ? indexOf(timeline, first.id) : -1;
  if (!timeline || timeline.hasNewer || overlap < 0) return { messages: page, hasOlder: isFull, hasNewer: false };
  return { ...timeline, messages: [...timeline.messages.slice(0, overlap), ...page] };
}

/** Keeps the newest messages only, when the reader leaves a long history. */
export function trim(timeline: Timeline, count: number): Timeline {
  if (timeline.messages.length <= count) return timeline;
  return { ...timeline, messages: timeline.messages.slice(-count), hasOlder: true };
}
