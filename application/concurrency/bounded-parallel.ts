/** Runs jobs in parallel up to a limit. */

export function createBoundedParallel(limit: number) {
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  return {
    /** Resolves once the job has started. Rejects with the first failure of an earlier job, and starts nothing then. */
    async start(job: () => Promise<void>) {
      while (running.size >= limit) await Promise.race(running);
      if (failures.length > 0) throw failures[0];
      const result: Promise<void> = job()
        .catch((error) => void failures.push(error))
        .finally(() => running.delete(result));
      running.add(result);
    },
    /** Resolves when all jobs have ended; rejects with the first failure. */
    async finish() {
      await Promise.all(running);
      if (failures.length > 0) throw failures[0];
    },
  };
}
