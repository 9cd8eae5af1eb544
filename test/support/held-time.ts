/** Time that stands still until a test lets it pass. */

export interface HeldTime {
  now(): number;
  /** Runs work when so many ms have passed; returns what calls it off. */
  after(ms: number, work: () => void): () => void;
  /** Time passes, and what was to be done in it is done, in order. */
  pass(ms: number): void;
  /** Whether something is to be done when so many ms have passed. */
  isDue(ms: number): boolean;
  /** Time passes while the process does nothing, as after a SIGSTOP: what was due is not done yet. */
  sleep(ms: number): void;
}

export function heldTime(start = 1_800_000_000_000): HeldTime {
  let now = start;
  const due = new Set<{ readonly at: number; readonly work: () => void }>();
  return {
    now: () => now,
    after(ms, work) {
      const entry = { at: now + ms, work };
      due.add(entry);
      return () => void due.delete(entry);
    },
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (!next) break;
        due.delete(next);
        now = Math.max(now, next.at);
        next.work();
      }
      now = end;
    },
    isDue: (ms) => [...due].some(({ at }) => at <= now + ms),
    sleep(ms) {
      now += ms;
    },
  };
}
