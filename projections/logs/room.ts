/** Room in memory that is given out and taken back: who finds too little of it waits, first come first served. */

export interface Room {
  /** Does the work in so much room; what is larger than all there is gets all. No work may wait for another. */
  within<T>(size: number, work: () => Promise<T>): Promise<T>;
}

export function createRoom(most: number): Room {
  const waiting: { readonly size: number; readonly begin: () => void }[] = [];
  let left = most;
  const letIn = () => {
    for (let [next] = waiting; next && next.size <= left; [next] = waiting) {
      waiting.shift();
      left -= next.size;
      next.begin();
    }
  };
  return {
    async within(wanted, work) {
      const size = Math.min(wanted, most);
      await new Promise<void>((begin) => {
        waiting.push({ size, begin });
        letIn();
      });
      try {
        return await work();
      } finally {
        left += size;
        letIn();
      }
    },
  };
}
