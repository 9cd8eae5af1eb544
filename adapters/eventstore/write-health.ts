/** Whether the event store takes writes: a full disk still lets everybody read. */
import { type EventLog, UnavailableError } from '../../application/ports/index.js';

export interface WatchedLog extends EventLog {
  /**
   * Resolves when the store takes writes, as far as is known; rejects with `Unavailable` when it refuses them. It is
   * tried out only after a write has failed: what is tried out stays in the log.
   */
  writable(): Promise<void>;
}

/** `tryOut` writes something about as large as what it is asked to hold. */
export function trackWriteHealth(log: EventLog, probe: () => Promise<void>): WatchedLog {
  let suspect = false;

  const watched =
    <Args extends readonly unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const done = await write(...args);
        suspect = false;
        return done;
      } catch (error) {
        if (error instanceof UnavailableError) suspect = true;
        throw error;
      }
    };

  const tried = watched(probe);
  return {
    read: log.read,
    append: watched(log.append),
    retain: watched(log.retain),
    tombstone: watched(log.tombstone),
    writable: async () => {
      if (suspect) await tried();
    },
  };
}
