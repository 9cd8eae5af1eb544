/** How far back the streams of a service can be resumed: known over restarts, however much of others is in between. */
import { estimateBytes } from '../memory/estimate-size.js';
import type { Position, RecordedEvent } from '../ports/index.js';

/** 0 is before everything. */
export interface WindowStart {
  /** A client that has seen everything up to here can be given all the rest. */
  readonly horizon: Position;
  /** Nothing of the service stands in the log between the horizon and here: so far on it can be followed from. */
  readonly from: Position;
}

export interface ResumeWindow extends WindowStart {
  /** The last event of the service so far: where its read models come to, and no further while it is quiet. */
  readonly last: Position;
  /** An event of the service. */
  record(event: Pick<RecordedEvent, 'position' | 'recordedAt' | 'data'>): void;
  /**
   * Everything of the service up to here has been told of: what others write after its last event is not read again.
   * `now`: the Unix ms that the log has come to, by anybody's events.
   */
  advanceTo(position: Position, now: number): void;
}

/** What is told again after a restart, for those who come back: so many events of the service, of so many bytes. */
const EVENTS = 500;
const BYTES = 16 * 1024 * 1024;
/** A service that is quiet must not keep its window open for ever: a store looks through all that others have written
 * since, however little it finds. */
const AGE_MS = 15 * 60_000;

export function createWindow(start: WindowStart): ResumeWindow {
  const inside: { readonly position: Position; readonly recordedAt: number; readonly bytes: number }[] = [];
  let { horizon, from } = start;
  let last = horizon;
  let held = 0;

  function drop() {
    const { position, bytes } = inside.shift()!;
    held -= bytes;
    from = horizon = position;
  }

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
    record({ position, recordedAt, data }) {
      if (position <= last) return;
      last = position;
      const bytes = estimateBytes(data);
      held += bytes;
      inside.push({ position, recordedAt, bytes });
      while (inside.length > EVENTS || held > BYTES) drop();
    },
    advanceTo(position, now) {
      while (inside[0] && inside[0].recordedAt < now - AGE_MS) drop();
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
