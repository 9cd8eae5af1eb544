/** How far back the streams of a service can be resumed: known over restarts, however much of others is in between. */
import type { Position } from './ports.js';

/** 0 is before everything. */
export interface WindowStart {
  /** A client that has seen everything up to here can be given all the rest. */
  readonly horizon: Position;
  /** Nothing of the service stands in the log between the horizon and here: so far on it can be followed from. */
  readonly from: Position;
}

export interface Window extends WindowStart {
  /** The last event of the service so far. */
  readonly last: Position;
  /** An event of the service. */
  pass(position: Position): void;
  /** So far back the log is not to be read again. */
  leave(position: Position): void;
  /** Everything of the service up to here has been told of: what others write after its last event is not read again. */
  reach(position: Position): void;
}

/** Events of a service that are told again after a restart, for those who come back. */
const EVENTS = 500;

export function createWindow(start: WindowStart): Window {
  const inside: Position[] = [];
  let { horizon, from } = start;
  let last = horizon;
  return {
    get horizon() {
      return horizon;
    },
    get from() {
      return from;
    },
    get last() {
      return last;
    },
    pass(position) {
      if (position <= last) return;
      last = position;
      inside.push(position);
      if (inside.length > EVENTS) from = horizon = inside.shift()!;
    },
    leave(position) {
      if (position <= from) return;
      from = position;
      while (inside[0] !== undefined && inside[0] <= from) horizon = inside.shift()!;
    },
    reach(position) {
      if (inside.length === 0 && position > from) from = position;
    },
  };
}

/** Windows as the last node left them. */
export interface Windows {
  /** Undefined where none was left. */
  read(service: string): Promise<WindowStart | undefined>;
  /** Each as a whole; any node may move them on, as each has seen what it says. */
  save(windows: ReadonlyMap<string, WindowStart>): Promise<void>;
}

/**
 * The window as some node left it; `head` is the log's, which may be a backup's. `checkpoint` is how far the
 * service's read models are: the window begins there where no node has left one.
 */
export async function readWindow(
  windows: Pick<Windows, 'read'>,
  service: string,
  head: Position,
  checkpoint: Position = 0n,
): Promise<WindowStart> {
  const { horizon, from } = (await windows.read(service)) ?? { horizon: checkpoint, from: checkpoint };
  const least = (position: Position) => (position < head ? position : head);
  return { horizon: least(horizon), from: least(from) };
}
