/** Puts the process's own timers under a time that a test lets pass: for deadlines of code that takes none as its own. */
import type { HeldTime } from './held-time.js';

interface HeldTimer {
  refresh(): HeldTimer;
  unref(): HeldTimer;
  ref(): HeldTimer;
  callOff(): void;
}

/** From now on `setTimeout` and `clearTimeout` go by `time`; returns what puts the real ones back. */
export function holdTimers(time: Pick<HeldTime, 'after'>): () => void {
  const { setTimeout, clearTimeout } = globalThis;
  const begin = (work: () => void, ms: number): HeldTimer => {
    let callOff = time.after(ms, work);
    const timer: HeldTimer = {
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
    clearTimeout: (timer?: HeldTimer | NodeJS.Timeout) =>
      timer && 'callOff' in timer ? timer.callOff() : clearTimeout(timer),
  });
  return () => void Object.assign(globalThis, { setTimeout, clearTimeout });
}

/** From now on `setInterval` and `clearInterval` go by `time`; returns what puts the real ones back. */
export function holdIntervals(time: Pick<HeldTime, 'after'>): () => void {
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
