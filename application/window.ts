/** How far back the streams of a service can be resumed: known over restarts, however much of others is in between. */
import type { Checkpoints, Position } from './ports.js';

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
  };
}

const horizonOf = (service: string) => `window:${service}`;
const fromOf = (service: string) => `window:${service}:from`;
/** Any node may move them on: each has seen what it says. */
const UNFENCED = 0n;

/**
 * The window as some node left it; `head` is the log's, which may be a backup's. `checkpoint` is how far the
 * service's read models are: the window begins there where no node has left one.
 */
export async function readWindow(
  checkpoints: Checkpoints,
  service: string,
  head: Position,
  checkpoint: Position = 0n,
): Promise<WindowStart> {
  // In this order, against that of saving: with a horizon of before, what is between it and a later `from` would be
  // left out unseen.
  const from = await checkpoints.read(fromOf(service));
  const horizon = await checkpoints.read(horizonOf(service));
  const least = (position: Position) => (position < head ? position : head);
  if (horizon === undefined) return { horizon: least(checkpoint), from: least(checkpoint) };
  return { horizon: least(horizon), from: least(from ?? horizon) };
}

/** Leaves the windows for the next start; false when that has not worked. */
export const saveWindows = (
  checkpoints: Checkpoints,
  windows: ReadonlyMap<string, WindowStart>,
): Promise<boolean> =>
  checkpoints.advance(
    Object.fromEntries(
      [...windows].flatMap(([service, { horizon, from }]) => [
        [horizonOf(service), horizon],
        [fromOf(service), from],
      ]),
    ),
    UNFENCED,
  );
