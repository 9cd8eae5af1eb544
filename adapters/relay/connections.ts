/** The open streams of a relay by key: fan-out, heartbeat, and every way a stream ends. */
import type { Position } from '../../application/ports.js';
import type { Message } from './audience.js';
import { inSequence, type Kept } from './kept.js';
import { type Frame, frame, type Sink } from './sink.js';

export interface RelayObserver {
  /** How many streams are open now. */
  connected(total: number): void;
  /** Frames handed to streams. */
  sent(frames: number): void;
  /** A stream was cut because its client did not read. */
  cut(): void;
}

export interface Connection {
  readonly keys: readonly string[];
  readonly sink: Sink;
  /** Where the client began: what came before is not for it. */
  readonly since: Position;
}

export interface Until {
  /** Unix ms. */
  readonly at: number;
  readonly message?: Message;
}

/** A client that leaves this many bytes unread is cut, and resumes with its cursor (design section 11). */
const MAX_BUFFERED = 1024 * 1024;
const HEARTBEAT_MS = 15_000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export function createConnections(observe?: RelayObserver) {
  const open = new Set<Connection>();
  const byKey = new Map<string, Set<Connection>>();
  let closed = false;
  let latest: Position = -1n;
  // The cursor moves on with the log even where a client is told nothing, or it would fall out of the ring.
  const heartbeat = setInterval(() => {
    for (const { sink, since } of open) {
      const seen = since > latest ? since : latest;
      sink.beat(seen < 0n ? undefined : seen);
    }
  }, HEARTBEAT_MS).unref();

  return {
    add(connection: Connection, until?: Until) {
      const { keys, sink } = connection;
      if (closed) return sink.end('resume');
      open.add(connection);
      for (const key of keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(connection));
      observe?.connected(open.size);
      const disarm = until && arm(until.at, () => finish(connection, until.message && frame(until.message)));
      sink.onClose(() => {
        disarm?.();
        remove(connection);
      });
    },

    /** Sends the deliveries of one event, at once and in order. */
    fanOut(kept: readonly Kept[], position: Position) {
      latest = position;
      for (const [connection, mine] of recipients(kept)) {
        if (connection.since >= position) continue;
        for (const each of inSequence(mine)) send(connection, each);
        if (mine.some(({ ends }) => ends)) finish(connection);
      }
    },

    tell(keys: readonly string[], told: Frame): number {
      const listeners = new Set(keys.flatMap((key) => [...(byKey.get(key) ?? [])]));
      for (const connection of listeners) send(connection, told);
      return listeners.size;
    },

    end(key: string, last?: Frame) {
      for (const connection of [...(byKey.get(key) ?? [])]) finish(connection, last);
    },

    close() {
      closed = true;
      clearInterval(heartbeat);
      for (const { sink } of open) sink.end('resume');
    },
  };

  function recipients(kept: readonly Kept[]): Map<Connection, Kept[]> {
    const found = new Map<Connection, Kept[]>();
    for (const each of kept) {
      for (const key of each.to) {
        for (const connection of byKey.get(key) ?? []) {
          const mine = found.get(connection);
          if (!mine) found.set(connection, [each]);
          else if (mine.at(-1) !== each) mine.push(each);
        }
      }
    }
    return found;
  }

  function send(connection: Connection, frame: Frame) {
    const { sink } = connection;
    sink.send(frame);
    observe?.sent(1);
    if (sink.buffered() <= MAX_BUFFERED || !open.has(connection)) return;
    observe?.cut();
    remove(connection);
    sink.cut();
  }

  function finish(connection: Connection, last?: Frame) {
    remove(connection);
    if (last) connection.sink.send(last);
    connection.sink.end('over');
  }

  function remove(connection: Connection) {
    if (!open.delete(connection)) return;
    for (const key of connection.keys) {
      const group = byKey.get(key);
      if (group?.delete(connection) && group.size === 0) byKey.delete(key);
    }
    observe?.connected(open.size);
  }
}

/** Runs at a time of the wall clock, however far away, never before it. */
function arm(at: number, run: () => void): () => void {
  let timer: NodeJS.Timeout;
  const wait = () => {
    const left = at - Date.now();
    if (left <= 0) return run();
    timer = setTimeout(wait, Math.min(left, MAX_TIMER_MS)).unref();
  };
  timer = setTimeout(wait, 0).unref();
  return () => clearTimeout(timer);
}
