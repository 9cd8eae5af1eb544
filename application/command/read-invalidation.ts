/** What is heard of a stream while it is being read: nothing remembers it yet. */

export interface News {
  readonly stream: string;
  /** The newest revision the live feed has shown meanwhile; -1 for none. */
  newest: number;
  /** What is being read has been erased. */
  forgotten: boolean;
}

export function createHearing() {
  const reading = new Map<string, Set<News>>();
  const all = (stream: string) => reading.get(stream) ?? new Set<News>();

  return {
    /** Reads a stream, told what is heard of it from now on. */
    async during<T>(stream: string, read: (news: News) => Promise<T>): Promise<T> {
      const news: News = { stream, newest: -1, forgotten: false };
      const others = all(stream);
      reading.set(stream, others.add(news));
      try {
        return await read(news);
      } finally {
        others.delete(news);
        if (others.size === 0) reading.delete(stream);
      }
    },

    show(stream: string, revision: number) {
      for (const news of all(stream)) news.newest = Math.max(news.newest, revision);
    },

    forget(stream: string) {
      for (const news of all(stream)) news.forgotten = true;
    },
  };
}
