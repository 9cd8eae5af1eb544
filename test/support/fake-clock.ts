/** A clock and timers that stand still until a test advances them. */

export interface FakeClock {
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

/** From now on `setTimeout` and `clearTimeout` go by `time`; returns what puts the real ones back. */
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
    // What began before goes by the real time still.
    clearTimeout: (timer?: FakeTimer | NodeJS.Timeout) =>
      timer && 'callOff' in timer ? timer.callOff() : clearTimeout(timer),
  });
  return () => void Object.assign(globalThis, { setTimeout, clearTimeout });
}

/** From now on `setInterval` and `clearInterval` go by `time`; returns what puts the real ones back. */
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

/** What is tried again in this work is tried again at once. */
export async function withoutJitter<T>(work: () => Promise<T>): Promise<T> {
  const { random } = Math;
  Math.random = () => 0;
  return work().finally(() => {
    Math.random = random;
  });
}

export interface Rounds {
  /** Of the round that is running. */
  now(): number;
  stop(): void;
}

/** Counts the rounds of the event loop: work in one of them keeps everybody else waiting. */
export function countRounds(): Rounds {
  let rounds = 0;
  let next = setImmediate(turn);
  function turn() {
    rounds++;
    next = setImmediate(turn);
  }
  return { now: () => rounds, stop: () => clearImmediate(next) };
}
