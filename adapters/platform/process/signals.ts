/** Listens for the signals that end a process; repeated signals within a moment count once. */

export type EndSignal = 'SIGINT' | 'SIGTERM';

/** Source of the signals; the process, except in tests. */
export interface Signals {
  on(signal: EndSignal, listener: () => void): unknown;
  off(signal: EndSignal, listener: () => void): unknown;
}

export interface EndOptions {
  readonly host?: Signals;
  /** Monotonic clock, ms. */
  readonly now?: () => number;
}

/** Milliseconds within which signals count as one: npm and supervisors forward them, so one Ctrl-C arrives twice. */
const REPEAT_MS = 1000;

/** `onFirst` is called once; `onRepeated` for later signals. Returns a function that removes the listeners. */
export function onEnd(
  onFirst: () => void,
  onRepeated: () => void,
  { host = process, now = () => performance.now() }: EndOptions = {},
): () => void {
  let firstAt: number | undefined;
  const listen = () => {
    if (firstAt === undefined) {
      firstAt = now();
      onFirst();
    } else if (now() - firstAt >= REPEAT_MS) onRepeated();
  };
  host.on('SIGINT', listen);
  host.on('SIGTERM', listen);
  return () => {
    host.off('SIGINT', listen);
    host.off('SIGTERM', listen);
  };
}
