/** Work on what comes one after the other, some of it at a time. */

export interface Overlapping {
  /** Resolves when it is under way: so many at most are. Rejects with what failed before, and begins nothing then. */
  begin(work: () => Promise<void>): Promise<void>;
  /** Resolves when all has ended; rejects with the first failure. */
  end(): Promise<void>;
}

export function createOverlapping(most: number): Overlapping {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  return {
    async begin(work) {
      while (underWay.size >= most) await Promise.race(underWay);
      if (failures.length > 0) throw failures[0];
      const working: Promise<void> = work()
        .catch((error) => void failures.push(error))
        .finally(() => underWay.delete(working));
      underWay.add(working);
    },
    async end() {
      await Promise.all(underWay);
      if (failures.length > 0) throw failures[0];
    },
  };
}
