/**
 * Caches the end of the log in memory: each flush wakes all subscribers, and each would read the same few events from
 * the store.
 */

export interface StoredEvent {
  readonly position: number;
  readonly record: Buffer;
}

export interface RecentEvent extends StoredEvent {
  /** As in `StreamState`. */
  readonly category: number;
}

/** Maximum bytes of cached events. */
const CACHE_BYTES = 1 << 20;

/** Creates a cache of the last flushed events, in order and without gaps. */
export function createTailCache() {
  let events: RecentEvent[] = [];
  let bytes = 0;
  /** The cache holds every event after this position. */
  let after = Number.POSITIVE_INFINITY;

  return {
    /** Adds the events of a flush; `head` is the end of the log before it. */
    add(head: { readonly position: number }, written: readonly RecentEvent[]) {
      if (after === Number.POSITIVE_INFINITY) after = head.position;
      for (const event of written) {
        events.push(event);
        bytes += event.record.length;
      }
      if (bytes <= CACHE_BYTES) return;
      // Evict down to half: evicting on every flush would copy the array each time.
      let evicted = 0;
      for (; evicted < events.length && bytes > CACHE_BYTES / 2; evicted++) bytes -= events[evicted]!.record.length;
      after = events[evicted - 1]!.position;
      events = events.slice(evicted);
    },
    /** Events from a position on; undefined if some of them may be missing. */
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
