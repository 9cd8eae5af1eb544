/** The open streams of a service by key: resume position, fan-out, heartbeat, and all ways a stream ends. */
import type { Clock, Position } from '../../../application/ports/index.js';
import type { Message } from '../../../application/subscription/index.js';
import { type Connection, createStream, type Ring, type RingItem, type Stream } from './client-stream.js';
import { type Frame, frame } from './sink.js';

export interface RelayObserver {
  connected(total: number): void;
  sent(frames: number): void;
  /** A stream was cut because its client does not read. */
  cut(): void;
}

export interface StreamStart {
  readonly after?: Position | undefined;
  /** First message of the stream. */
  readonly greeting?: Message | undefined;
  /** The stream's authorization ends at this Unix ms: the message is sent and the stream ends. */
  readonly until?: { readonly at: number; readonly message?: Message } | undefined;
}

interface EndOptions {
  readonly position?: Position;
  readonly code?: number | undefined;
}

export interface ConnectionsOptions<Item extends RingItem> {
  readonly ring: Ring<Item>;
  /** Position of the log's last event. A cursor beyond it belongs to another log. */
  readonly head: () => Promise<Position>;
  /** Called when an item could not be picked; it is tried again. */
  readonly failed?: ((error: unknown) => void) | undefined;
  readonly clock?: Clock | undefined;
  readonly observe?: RelayObserver | undefined;
  readonly beatMs?: number | undefined;
}

/** Unread bytes at which a client is cut. Twice the largest message sent with backpressure, which waits for room. */
const MAX_BUFFERED = 2 * 1024 * 1024;
const HEARTBEAT_MS = 15_000;
/** Heartbeats without reading after which a client is cut. It resumes with its cursor (docs/guide/relay.md). */
const MAX_UNANSWERED_BEATS = 4;
const MAX_TIMER_MS = 2 ** 31 - 1;
const NO_STREAMS: ReadonlySet<never> = new Set();

export function createConnections<Item extends RingItem>(options: ConnectionsOptions<Item>) {
  const { ring, head, failed = () => {}, clock = Date, observe, beatMs = HEARTBEAT_MS } = options;
  const open = new Set<Stream<Item>>();
  const byKey = new Map<string, Set<Stream<Item>>>();
  const expiryTimers = new Map<Stream<Item>, Timer>();
  let closed = false;
  let latest: Position = ring.horizon;

  const heartbeat = setInterval(() => {
    for (const stream of open) if (stream.beat() >= MAX_UNANSWERED_BEATS) cut(stream);
  }, beatMs).unref();

  return {
    latest: () => latest,
    count: () => open.size,

    connect(connection: Connection<Item>, { after, greeting, until }: StreamStart) {
      const { sink } = connection;
      if (closed) return sink.end('resume');
      const resume = resumption(after, { horizon: ring.horizon, latest });
      const since =
        resume === 'missed' ? positionBeforeFirst(connection, after!) : resume === 'ahead' ? after! : latest;
      const hasMissed = resume === 'too-old' || since < latest;
      const sent = () => observe?.sent(1);
      const stream = createStream(connection, { ring, latest: () => latest, since, sent, failed });
      join(stream);
      if (greeting) sink.send(frame(greeting, hasMissed ? undefined : since));
      else if (resume !== 'too-old') sink.beat(since);
      if (resume === 'too-old') stream.reset();
      const expire = () => finish(stream, until?.message && frame(until.message));
      if (until) expiryTimers.set(stream, createTimer(clock, until.at, expire));
      sink.onClose(() => remove(stream));
      if (resume === 'ahead') void verifyCursor(stream, after!);
      else if (open.has(stream)) stream.pump();
    },

    /** Stores an item and sends it, in order, to the streams under these keys, or to all. */
    publish(item: Item, keys?: readonly string[]) {
      ring.push(item);
      latest = item.position;
      if (keys) for (const key of keys) for (const stream of byKey.get(key) ?? NO_STREAMS) stream.push(item);
      else for (const stream of open) stream.push(item);
    },

    advance(position: Position) {
      latest = position;
    },

    /** Sends a frame that cannot be resumed, such as a signal, to the open streams. Returns their number. */
    sendEphemeral(keys: readonly string[], frameToSend: Frame): number {
      let listeners = 0;
      for (const stream of streamsUnder(keys)) {
        listeners++;
        stream.sendEphemeral(frameToSend);
        if (stream.unread() > MAX_BUFFERED) cut(stream);
      }
      return listeners;
    },

    /** Sends a frame to each stream when it has room. Resolves with whether any got it. Wait for it before the next. */
    async sendWithBackpressure(key: string, frameToSend: Frame): Promise<boolean> {
      const results = [...streamsUnder([key])].map((stream) => stream.sendWithBackpressure(frameToSend));
      return (await Promise.all(results)).includes(true);
    },

    /** Ends the streams under a key. Those that have not received the item at `position` get a last message. */
    end(key: string, last?: Frame, { position, code }: EndOptions = {}) {
      for (const stream of streamsUnder([key]))
        finish(stream, position !== undefined && stream.since() >= position ? undefined : last, code);
    },

    /** Changes when the authorization of the streams under a key expires, Unix ms. */
    until(key: string, at: number) {
      for (const stream of streamsUnder([key])) expiryTimers.get(stream)?.move(at);
    },

    /** Asks all clients to reconnect, and accepts no more. */
    close() {
      closed = true;
      clearInterval(heartbeat);
      for (const stream of open) {
        remove(stream);
        stream.sink.end('resume');
      }
    },
  };

  /** Callers may end streams while they iterate. */
  function streamsUnder(keys: readonly string[]): ReadonlySet<Stream<Item>> {
    const [firstKey] = keys;
    if (firstKey !== undefined && keys.length === 1) return byKey.get(firstKey) ?? NO_STREAMS;
    const all = new Set<Stream<Item>>();
    for (const key of keys) for (const stream of byKey.get(key) ?? NO_STREAMS) all.add(stream);
    return all;
  }

  /** Returns the position just before the first item that may be for the stream. */
  function positionBeforeFirst({ pick }: Connection<Item>, after: Position): Position {
    for (const item of ring.since(after)) {
      const frames = pick(item, true);
      if (frames instanceof Promise) return after;
      if (frames.length > 0) return item.position - 1n;
    }
    return latest;
  }

  /** Checks a cursor ahead of this node: another node has read more of the log, or an older log was restored. */
  async function verifyCursor(stream: Stream<Item>, after: Position) {
    try {
      if ((await head()) < after && latest < after && open.has(stream)) stream.reset();
    } catch {
      // Unknown whether it would miss events: the client reconnects.
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
    expiryTimers.get(stream)?.stop();
    expiryTimers.delete(stream);
    for (const key of stream.keys) {
      const group = byKey.get(key);
      if (group?.delete(stream) && group.size === 0) byKey.delete(key);
    }
    observe?.connected(open.size);
  }
}

/**
 * `fresh`: no cursor, starts with new items. `caught-up`: has seen everything. `missed`: the missed items are in
 * the ring. `too-old`: they are not, or the cursor was never issued. `ahead`: has seen more than this node, from
 * a node that is ahead; or the log was restored to an older state.
 */
type Resumption = 'fresh' | 'caught-up' | 'missed' | 'too-old' | 'ahead';

/** `horizon`: the ring holds everything after it. `latest`: the last item. Negative cursors are never issued. */
function resumption(
  after: Position | undefined,
  { horizon, latest }: { readonly horizon: Position; readonly latest: Position },
): Resumption {
  if (after === undefined) return 'fresh';
  if (after < 0n || after < horizon) return 'too-old';
  if (after === latest) return 'caught-up';
  return after < latest ? 'missed' : 'ahead';
}

type Timer = ReturnType<typeof createTimer>;

/** Runs a callback at a wall clock time, however distant, never before it. */
function createTimer(clock: Clock, first: number, run: () => void) {
  let at = first;
  let timer: NodeJS.Timeout;
  const wait = (ms: number) => {
    timer = setTimeout(check, Math.min(ms, MAX_TIMER_MS)).unref();
  };
  const check = () => {
    const remainingMs = at - clock.now();
    if (remainingMs <= 0) return run();
    wait(remainingMs);
  };
  const stop = () => clearTimeout(timer);
  wait(0);
  return {
    stop,
    move(to: number) {
      stop();
      at = to;
      wait(0);
    },
  };
}
