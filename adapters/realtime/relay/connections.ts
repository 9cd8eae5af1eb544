/** The open streams of a service by key: where each begins, fan-out, heartbeat, and every way a stream ends. */
import type { Clock, Position } from '../../../application/ports/index.js';
import type { Message } from '../../../application/subscription/index.js';
import { type Connection, createStream, type Stream } from './client-stream.js';
import { resumption } from './resume.js';
import type { Ring, RingItem } from './ring.js';
import { type Frame, frame } from './sink.js';

export interface RelayObserver {
  /** How many streams are open now. */
  connected(total: number): void;
  /** Frames handed to streams. */
  sent(frames: number): void;
  /** A stream was cut because its client did not read. */
  cut(): void;
}

export interface Beginning {
  /** The client's cursor. */
  readonly after?: Position | undefined;
  /** Sent first. */
  readonly greeting?: Message | undefined;
  /** The stream's authority ends at this Unix ms: the message is sent and the stream ends. */
  readonly until?: { readonly at: number; readonly message?: Message } | undefined;
}

/** What ends streams. */
interface Ended {
  /** Where it stands in the log. */
  readonly position?: Position;
  readonly code?: number | undefined;
}

export interface ConnectionsOptions<Item extends RingItem> {
  readonly ring: Ring<Item>;
  /** The position of the log's last event: a cursor beyond it is of another log. */
  readonly head: () => Promise<Position>;
  /** What could not be picked just now; it is tried again. */
  readonly failed?: ((error: unknown) => void) | undefined;
  /** By which the authority of a stream ends. */
  readonly clock?: Clock | undefined;
  readonly observe?: RelayObserver | undefined;
  readonly beatMs?: number | undefined;
}

/**
 * What is told outside the log can't wait: a client that leaves this many bytes unread is cut. Twice as much as one
 * message that is passed on, which was not sent before there was room.
 */
const MAX_BUFFERED = 2 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** A client that has read nothing for so many heartbeats is cut, and resumes with its cursor (docs/guide/relay.md). */
const MOST_IN_VAIN = 4;
const MAX_TIMER_MS = 2 ** 31 - 1;
const NOBODY: ReadonlySet<never> = new Set();

export function createConnections<Item extends RingItem>(options: ConnectionsOptions<Item>) {
  const { ring, head, failed = () => {}, clock = Date, observe, beatMs = HEARTBEAT_MS } = options;
  const open = new Set<Stream<Item>>();
  const byKey = new Map<string, Set<Stream<Item>>>();
  /** Of the streams whose authority ends at a time. */
  const alarms = new Map<Stream<Item>, Alarm>();
  let closed = false;
  let latest: Position = ring.horizon;

  const heartbeat = setInterval(() => {
    for (const stream of open) if (stream.beat() >= MOST_IN_VAIN) cut(stream);
  }, beatMs).unref();

  return {
    /** Of the last item told. */
    latest: () => latest,
    /** How many streams are open. */
    count: () => open.size,

    connect(connection: Connection<Item>, { after, greeting, until }: Beginning) {
      const { sink } = connection;
      if (closed) return sink.end('resume');
      const how = resumption(after, { horizon: ring.horizon, latest });
      const since = how === 'missed' ? beforeFirst(connection, after!) : how === 'ahead' ? after! : latest;
      const missing = how === 'too-old' || since < latest;
      const sent = () => observe?.sent(1);
      const stream = createStream(connection, { ring, latest: () => latest, since, sent, failed });
      join(stream);
      if (greeting) sink.send(frame(greeting, missing ? undefined : since));
      else if (how !== 'too-old') sink.beat(since);
      if (how === 'too-old') stream.reset();
      const over = () => finish(stream, until?.message && frame(until.message));
      if (until) alarms.set(stream, alarm(clock, until.at, over));
      sink.onClose(() => remove(stream));
      if (how === 'ahead') void doubt(stream, after!);
      else if (open.has(stream)) stream.pump();
    },

    /** Keeps an item and sends it at once, in order, to those streams under these keys, or to all. */
    publish(item: Item, keys?: readonly string[]) {
      ring.push(item);
      latest = item.position;
      if (keys) for (const key of keys) for (const stream of byKey.get(key) ?? NOBODY) stream.push(item);
      else for (const stream of open) stream.push(item);
    },

    /** The log has moved on with nothing to tell. */
    pass(position: Position) {
      latest = position;
    },

    tell(keys: readonly string[], told: Frame): number {
      let listeners = 0;
      for (const stream of under(keys)) {
        listeners++;
        stream.tell(told);
        if (stream.unread() > MAX_BUFFERED) cut(stream);
      }
      return listeners;
    },

    /** To each in its turn, when it has room; whether anybody got it. */
    async passOn(key: string, told: Frame): Promise<boolean> {
      const passed = [...under([key])].map((stream) => stream.sendWithBackpressure(told));
      return (await Promise.all(passed)).includes(true);
    },

    /** Ends the streams under a key, after a last message for those that have not got what is at `position`. */
    end(key: string, last?: Frame, { position, code }: Ended = {}) {
      for (const stream of under([key]))
        finish(stream, position !== undefined && stream.since() >= position ? undefined : last, code);
    },

    /** Moves the end of the streams under a key that end at a time, to this Unix ms. */
    until(key: string, at: number) {
      for (const stream of under([key])) alarms.get(stream)?.move(at);
    },

    close() {
      closed = true;
      clearInterval(heartbeat);
      for (const stream of open) {
        remove(stream);
        stream.sink.end('resume');
      }
    },
  };

  /** They may be ended while they are gone through. */
  function under(keys: readonly string[]): ReadonlySet<Stream<Item>> {
    const [only] = keys;
    if (only !== undefined && keys.length === 1) return byKey.get(only) ?? NOBODY;
    const all = new Set<Stream<Item>>();
    for (const key of keys) for (const stream of byKey.get(key) ?? NOBODY) all.add(stream);
    return all;
  }

  /** Just before the first item that may be for the stream. */
  function beforeFirst({ pick }: Connection<Item>, after: Position): Position {
    for (const item of ring.since(after)) {
      const frames = pick(item, true);
      if (frames instanceof Promise) return after;
      if (frames.length > 0) return item.position - 1n;
    }
    return latest;
  }

  /** A cursor ahead of us comes from a node that has seen more of the log; unless the log itself ends before it. */
  async function doubt(stream: Stream<Item>, after: Position) {
    try {
      if ((await head()) < after && latest < after && open.has(stream)) stream.reset();
    } catch {
      // It is not known whether it will miss anything: it asks again.
      remove(stream);
      stream.sink.end('resume');
    }
  }

  function join(stream: Stream<Item>) {
    open.add(stream);
    for (const key of stream.keys) byKey.set(key, (byKey.get(key) ?? new Set()).add(stream));
    observe?.connected(open.size);
  }

  function cut(stream: Stream<Item>) {
    observe?.cut();
    remove(stream);
    stream.sink.cut();
  }

  function finish(stream: Stream<Item>, last?: Frame, code?: number) {
    if (!open.has(stream)) return;
    remove(stream);
    if (last) stream.send(last);
    stream.sink.end('over', code);
  }

  function remove(stream: Stream<Item>) {
    if (!open.delete(stream)) return;
    stream.stop();
    alarms.get(stream)?.stop();
    alarms.delete(stream);
    for (const key of stream.keys) {
      const group = byKey.get(key);
      if (group?.delete(stream) && group.size === 0) byKey.delete(key);
    }
    observe?.connected(open.size);
  }
}

type Alarm = ReturnType<typeof alarm>;

/** Runs at a time of a clock of the wall, however far away, never before it. */
function alarm(clock: Clock, first: number, run: () => void) {
  let at = first;
  let timer: NodeJS.Timeout;
  const wait = (ms: number) => {
    timer = setTimeout(look, Math.min(ms, MAX_TIMER_MS)).unref();
  };
  const look = () => {
    const left = at - clock.now();
    if (left <= 0) return run();
    wait(left);
  };
  const stop = () => clearTimeout(timer);
  wait(0);
  return {
    stop,
    /** It runs at another time. */
    move(to: number) {
      stop();
      at = to;
      wait(0);
    },
  };
}
