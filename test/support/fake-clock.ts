/** A clock and timers that stand still until a test advances them. */

export interface FakeClock {
  now(): number;
  /** Schedules work after `ms` milliseconds; returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
  /** Advances the time and runs the work due in it, in order. */
  pass(ms: number): void;
  /** Whether any work is due within `ms` milliseconds. */
  isDue(ms: number): boolean;
  /** Advances the time without running due work, as for a stopped process (SIGSTOP). */
  sleep(ms: number): void;
}

export function fakeClock(start = 1_800_000_000_000): FakeClock {
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

interface FakeTimer {
  refresh(): FakeTimer;
  unref(): FakeTimer;
  ref(): FakeTimer;
  callOff(): void;
}

/** Makes `setTimeout` and `clearTimeout` use `time`; returns a function that restores the real ones. */
export function useFakeTimers(time: Pick<FakeClock, 'after'>): () => void {
  const { setTimeout, clearTimeout } = globalThis;
  const begin = (work: () => void, ms: number): FakeTimer => {
    let callOff = time.after(ms, work);
    const timer: FakeTimer = {
      refresh() {
        callOff();
        callOff = time.after(ms, work);
        return timer;
      },
      unref: () => timer,
      ref: () => timer,
      callOff: () => callOff(),
    };
    return timer;
  };
  Object.assign(globalThis, {
    setTimeout: begin,
    // Timers that were set before are real ones.
    clearTimeout: (timer?: FakeTimer | NodeJS.Timeout) =>
      timer && 'callOff' in timer ? timer.callOff() : clearTimeout(timer),
  });
  return () => void Object.assign(globalThis, { setTimeout, clearTimeout });
}

/** Makes `setInterval` and `clearInterval` use `time`; returns a function that restores the real ones. */
export function useFakeIntervals(time: Pick<FakeClock, 'after'>): () => void {
  const { setInterval, clearInterval } = globalThis;
  const begin = (work: () => void, ms: number) => {
    let callOff = () => {};
    const schedule = () => {
      callOff = time.after(ms, () => {
        schedule();
        work();
      });
    };
    schedule();
    const interval = { unref: () => interval, callOff: () => callOff() };
    return interval;
  };
  Object.assign(globalThis, {
    setInterval: begin,
    clearInterval: (interval: NodeJS.Timeout | ReturnType<typeof begin>) =>
      'callOff' in interval ? interval.callOff() : clearInterval(interval),
  });
  return () => void Object.assign(globalThis, { setInterval, clearInterval });
}

/** Runs work with random numbers of 0, so that jittered retries do not wait. */
export async function withoutJitter<T>(work: () => Promise<T>): Promise<T> {
  const { random } = Math;
  Math.random = () => 0;
  return work().finally(() => {
    Math.random = random;
  });
}

export interface Rounds {
  /** Number of the current round. */
  now(): number;
  stop(): void;
}

/** Counts rounds of the event loop: work within one round blocks everything else. */
export function countRounds(): Rounds {
  let rounds = 0;
  let next = setImmediate(turn);
  function turn() {
    rounds++;
    next = setImmediate(turn);
  }
  return { now: () => rounds, stop: () => clearImmediate(next) };
}
