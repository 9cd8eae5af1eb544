/** The signals that tell a process to end: told several times within a moment, it was told once. */

export type EndSignal = 'SIGINT' | 'SIGTERM';

/** What sends the signals; the process, but for tests. */
export interface Signals {
  on(signal: EndSignal, listener: () => void): unknown;
  off(signal: EndSignal, listener: () => void): unknown;
}

export interface EndOptions {
  readonly host?: Signals;
  /** Ms that never go back. */
  readonly now?: () => number;
}

/** One Ctrl-C comes from the terminal and from npm, one SIGTERM from a supervisor and from whoever passes it on. */
const ONE_MS = 1000;

/** `asked` is called once; `insisted` when it comes again later than a moment. Returns what ends the listening. */
export function onEnd(
  asked: () => void,
  insisted: () => void,
  { host = process, now = () => performance.now() }: EndOptions = {},
): () => void {
  let first: number | undefined;
  const listen = () => {
    if (first === undefined) {
      first = now();
      asked();
    } else if (now() - first >= ONE_MS) insisted();
  };
  host.on('SIGINT', listen);
  host.on('SIGTERM', listen);
  return () => {
    host.off('SIGINT', listen);
    host.off('SIGTERM', listen);
  };
}
