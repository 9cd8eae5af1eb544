/** Tracks whether the event store accepts writes: with a full disk it still serves reads. */
import { type EventLog, UnavailableError } from '../../application/ports/index.js';

export interface WatchedLog extends EventLog {
  /**
   * Resolves if the store accepts writes, as far as is known; rejects with `UnavailableError` if not. Probes only
   * after a failed write, because a probe stays in the log.
   */
  writable(): Promise<void>;
}

/** Wraps a log. `probe` writes an event of typical size. */
export function trackWriteHealth(log: EventLog, probe: () => Promise<void>): WatchedLog {
  let suspect = false;

  const tracked =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await write(...args);
        suspect = false;
        return result;
      } catch (error) {
        if (error instanceof UnavailableError) suspect = true;
        throw error;
      }
    };

  const trackedProbe = tracked(probe);
  return {
    read: log.read,
    append: tracked(log.append),
    retain: tracked(log.retain),
    tombstone: tracked(log.tombstone),
    writable: async () => {
      if (suspect) await trackedProbe();
    },
  };
}
