/** What is heard of a stream while it is being read: nothing remembers it yet. */

export interface Invalidation {
  readonly stream: string;
  /** The newest revision the live feed has shown meanwhile; -1 for none. */
  newest: number;
  /** What is being read has been erased. */
  forgotten: boolean;
}

export function createReadInvalidation() {
  const reading = new Map<string, Set<Invalidation>>();
  const all = (stream: string) => reading.get(stream) ?? new Set<Invalidation>();

  return {
    /** Reads a stream, told what is heard of it from now on. */
    async whileReading<T>(stream: string, read: (news: Invalidation) => Promise<T>): Promise<T> {
      const news: Invalidation = { stream, newest: -1, forgotten: false };
      const others = all(stream);
      reading.set(stream, others.add(news));
      try {
        return await read(news);
      } finally {
        others.delete(news);
        if (others.size === 0) reading.delete(stream);
      }
    },

    noteRevision(stream: string, revision: number) {
      for (const news of all(stream)) news.newest = Math.max(news.newest, revision);
    },

    forget(stream: string) {
      for (const news of all(stream)) news.forgotten = true;
    },
  };
}
