/** A semaphore that counts what work takes of memory: who finds too little left waits, first come first served. */

export interface Semaphore {
  /** Does the work once so much is left; what is larger than all there is gets all. No work may wait for another. */
  within<T>(size: number, work: () => Promise<T>): Promise<T>;
}

export function createSemaphore(most: number): Semaphore {
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
