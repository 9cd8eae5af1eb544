/** Buffers recent items in a ring, and sends them to each client at its own pace. */
import type { Position } from '../../../application/ports/index.js';
import { type Frame, frame, HIGH_WATER_MARK, type Sink } from './sink.js';

export const RING_BYTES = 8 * 1024 * 1024;

export interface RingItem {
  readonly position: Position;
  /** Approximate bytes in memory. */
  readonly bytes: number;
}

export type Ring<Item extends RingItem> = ReturnType<typeof createRing<Item>>;

export interface RingOptions {
  readonly items: number;
  readonly bytes: number;
  /** Position up to which nothing was received; everything after it will be pushed. */
  readonly from: Position;
}

/** Creates a ring buffer of recent items for clients that resume or read slowly, bounded in number and bytes. */
export function createRing<Item extends RingItem>(limits: RingOptions) {
  let items: (Item | undefined)[] = [];
  /** Index of the oldest item. Entries before it are empty and are removed now and then. */
  let start = 0;
  let bytes = 0;
  let horizon = limits.from;

  function indexAfter(position: Position): number {
    let [low, high] = [start, items.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (items[middle]!.position <= position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    /** Items up to here may be missing: dropped, or never received. */
    get horizon() {
      return horizon;
    },
    get bytes() {
      return bytes;
    },

    /** Adds an item. Positions must grow. */
    push(item: Item) {
      items.push(item);
      bytes += item.bytes;
      while (items.length - start > limits.items || (bytes > limits.bytes && items.length - start > 1)) {
        const dropped = items[start]!;
        items[start++] = undefined;
        bytes -= dropped.bytes;
        horizon = dropped.position;
      }
      if (start > limits.items) [items, start] = [items.slice(start), 0];
    },

    after: (position: Position) => items[indexAfter(position)],
    since: (position: Position) => items.slice(indexAfter(position)) as readonly Item[],

    revise(change: (item: Item) => Item | undefined) {
      const changed = (items.slice(start) as Item[]).flatMap((item) => change(item) ?? []);
      [items, start] = [changed, 0];
      bytes = changed.reduce((sum, item) => sum + item.bytes, 0);
    },

    /** Removes all items and moves the horizon to `upTo`. */
    clear(upTo: Position) {
      [items, start, bytes, horizon] = [[], 0, 0, upTo];
    },
  };
}

export interface Connection<Item> {
  readonly keys: readonly string[];
  readonly sink: Sink;
  /**
   * Returns the frames of an item for this stream. `missed` is true if the item was published before the stream
   * began, or had to wait for the client to read.
   * A synchronous result is sent as a whole. An asynchronous one is large: it is sent frame by frame, and picked
   * again for the next item.
   */
  pick(item: Item, missed: boolean): readonly Frame[] | Promise<readonly Frame[]>;
}

export interface StreamOptions<Item extends RingItem> {
  readonly ring: Ring<Item>;
  readonly latest: () => Position;
  /** The client has seen everything up to here, or it is not for it. */
  readonly since: Position;
  readonly sent: () => void;
  /** Called when an item could not be picked; it is tried again. */
  readonly failed: (error: unknown) => void;
}

export type Stream<Item extends RingItem = RingItem> = ReturnType<typeof createStream<Item>>;

const RETRY_MS = 500;

/** Sends ring items to one client; buffers only what the network accepts. */
export function createStream<Item extends RingItem>(
  { keys, sink, pick }: Connection<Item>,
  options: StreamOptions<Item>,
) {
  const { ring, latest, sent, failed } = options;
  let { since } = options;
  /** Frames already sent of the next item. */
  let framesSent = 0;
  /** `live`: everything is sent. `reading`: an item is being picked. `full`: waits for the network. `over`: ended. */
  let state: 'live' | 'reading' | 'full' | 'over' = 'live';
  /** Queue of sends with backpressure: each waits for the one before. */
  let sendQueue: Promise<unknown> = Promise.resolve();
  let onRoom: (() => void) | undefined;
  /** Ephemeral frames that wait until the ring items before them are sent. */
  let pendingEphemeral: Frame[] = [];
  let pendingBytes = 0;
  /** Heartbeats since the network last accepted anything. */
  let unansweredBeats = 0;

  function send(each: Frame) {
    if (each.isStale?.()) return;
    sink.send(each);
    sent();
  }

  /** Tells the client to reload its state, because some items are no longer available. */
  function reset() {
    [since, framesSent] = [latest(), 0];
    if (sink.overrun) sink.overrun();
    else send(frame({ type: 'RESET' }, since));
  }

  /** Ring items go first, so that a client knows a participant before it gets a message from one. */
  const hasRoom = () => state === 'over' || (state === 'live' && sink.buffered() < HIGH_WATER_MARK);

  function onCaughtUp() {
    state = 'live';
    const all = pendingEphemeral;
    [pendingEphemeral, pendingBytes] = [[], 0];
    for (const each of all) send(each);
    wake();
  }

  async function sendNext(ephemeral: Frame): Promise<boolean> {
    if (!hasRoom())
      await new Promise<void>((resolve) => {
        onRoom = resolve;
      });
    if (state === 'over') return false;
    send(ephemeral);
    return true;
  }

  function wake() {
    if (!onRoom || !hasRoom()) return;
    const resume = onRoom;
    onRoom = undefined;
    resume();
  }

  /** Sends ring items until the network is full. `next` is the first of them, if known. */
  function pump(next?: Item) {
    // The items it was waiting to send may have left the ring.
    const isBehind = state === 'full';
    let known = next;
    for (state = 'reading'; state === 'reading'; known = undefined) {
      // Usually there is only one item, so the search is skipped.
      const item = known ?? (since === latest() ? undefined : ring.after(since));
      if (since < ring.horizon && (item || isBehind)) reset();
      else if (!item) onCaughtUp();
      else if (sink.buffered() >= HIGH_WATER_MARK) state = 'full';
      else {
        const picked = pick(item, item !== known);
        if (picked instanceof Promise) {
          // Yields to other streams between two items.
          picked.then((all) => setImmediate(sendPiece, item, all), postpone);
          break;
        }
        for (const each of picked) send(each);
        since = item.position;
      }
    }
  }

  function sendPiece({ position }: Item, all: readonly Frame[]) {
    while (state === 'reading' && framesSent < all.length) {
      if (sink.buffered() >= HIGH_WATER_MARK) state = 'full';
      else send(all[framesSent++]!);
    }
    if (state !== 'reading') return;
    [since, framesSent] = [position, 0];
    pump();
  }

  function postpone(error: unknown) {
    failed(error);
    setTimeout(() => state === 'reading' && pump(), RETRY_MS).unref();
  }

  sink.onDrain(() => {
    unansweredBeats = 0;
    if (state === 'full') pump();
    wake();
  });

  return {
    keys,
    sink,
    send,
    reset,
    pump: () => pump(),
    /** Sends an ephemeral frame, after the ring items published before it. */
    sendEphemeral(ephemeral: Frame) {
      if (state === 'live') return send(ephemeral);
      pendingEphemeral.push(ephemeral);
      pendingBytes += ephemeral.json.length;
    },
    /** Bytes sent to the stream that the network has not accepted. */
    unread: () => sink.buffered() + pendingBytes,
    /** Position up to which everything is sent, or not for this stream. */
    since: () => since,

    /** Sends the newest ring item. Repeated calls have no effect. */
    push(item: Item) {
      if (state !== 'live' || since >= item.position) return;
      since = item.position - 1n;
      pump(item);
    },

    /** Sends a heartbeat. Returns the number of heartbeats since the network last accepted anything. */
    beat(): number {
      // The cursor advances even if nothing is sent; otherwise it would fall out of the ring.
      if (since < latest() && state === 'live') since = latest();
      if (state === 'live') sink.beat(since);
      unansweredBeats = state === 'full' || onRoom ? unansweredBeats + 1 : 0;
      return unansweredBeats;
    },

    /** Sends a frame when there is room, in order. Resolves with false if the stream ended before. */
    sendWithBackpressure(ephemeral: Frame): Promise<boolean> {
      const result = sendQueue.then(() => sendNext(ephemeral));
      sendQueue = result;
      return result;
    },

    stop() {
      state = 'over';
      pendingEphemeral = [];
      wake();
    },
  };
}
