/** Weighted semaphore that bounds memory; waiters are served in order of arrival. */

export interface Semaphore {
  /** Runs the job when its weight is available; a larger job waits for all of it. A job must not wait for another. */
  run<T>(size: number, job: () => Promise<T>): Promise<T>;
}

export function createSemaphore(capacity: number): Semaphore {
  const waiters: { readonly size: number; readonly start: () => void }[] = [];
  let available = capacity;
  const startWaiters = () => {
    for (let [next] = waiters; next && next.size <= available; [next] = waiters) {
      waiters.shift();
      available -= next.size;
      next.start();
    }
  };
  return {
    async run(weight, job) {
      const size = Math.min(weight, capacity);
      await new Promise<void>((start) => {
        waiters.push({ size, start });
        startWaiters();
      });
      try {
        return await job();
      } finally {
        available += size;
        startWaiters();
      }
    },
  };
}
