/** Records live events and erasures of streams that are being read and are not cached yet. */

export interface Invalidation {
  readonly stream: string;
  /** Newest revision seen on the live feed during the read; -1 for none. */
  newest: number;
  /** The stream was erased during the read: its state must not be cached. */
  forgotten: boolean;
}

export function createReadInvalidation() {
  const reads = new Map<string, Set<Invalidation>>();
  const readsOf = (stream: string) => reads.get(stream) ?? new Set<Invalidation>();

  return {
    /** Runs a read; its `invalidation` is updated until the read ends. */
    async whileReading<T>(stream: string, read: (invalidation: Invalidation) => Promise<T>): Promise<T> {
      const invalidation: Invalidation = { stream, newest: -1, forgotten: false };
      const current = readsOf(stream);
      reads.set(stream, current.add(invalidation));
      try {
        return await read(invalidation);
      } finally {
        current.delete(invalidation);
        if (current.size === 0) reads.delete(stream);
      }
    },

    noteRevision(stream: string, revision: number) {
      for (const invalidation of readsOf(stream)) invalidation.newest = Math.max(invalidation.newest, revision);
    },

    forget(stream: string) {
      for (const invalidation of readsOf(stream)) invalidation.forgotten = true;
    },
  };
}
