/** The end of the log in memory: a flush wakes every subscriber, and each would read the same few events from the store. */

export interface StoredEvent {
  readonly position: number;
  readonly record: Buffer;
}

export interface RecentEvent extends StoredEvent {
  /** As in `StreamState`. */
  readonly category: number;
}

/** Bytes of events that are kept. */
const KEPT_BYTES = 1 << 20;

/** What was flushed last, in order and without a gap. */
export function openRecent() {
  let events: RecentEvent[] = [];
  let bytes = 0;
  /** Every event behind this position is among them. */
  let after = Number.POSITIVE_INFINITY;

  return {
    /** Adds what a flush has written; `head` is where the log ended before it. */
    add(head: { readonly position: number }, written: readonly RecentEvent[]) {
      if (after === Number.POSITIVE_INFINITY) after = head.position;
      for (const event of written) {
        events.push(event);
        bytes += event.record.length;
      }
      if (bytes <= KEPT_BYTES) return;
      // Half of it at a time: each flush by itself would move them all.
      let gone = 0;
      for (; gone < events.length && bytes > KEPT_BYTES / 2; gone++) bytes -= events[gone]!.record.length;
      after = events[gone - 1]!.position;
      events = events.slice(gone);
    },
    /** Those from a position on; undefined where some of them may be missing. */
    from(position: number): readonly RecentEvent[] | undefined {
      if (position <= after) return undefined;
      let first = events.length;
      while (first > 0 && events[first - 1]!.position >= position) first--;
      return events.slice(first);
    },
    forget() {
      events = [];
      bytes = 0;
      after = Number.POSITIVE_INFINITY;
    },
  };
}
