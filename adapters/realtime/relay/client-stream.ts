/** One stream: goes through the ring at its client's pace, and holds no more than the network has room for. */
import type { Position } from '../../../application/ports/index.js';
import type { Ring, RingItem } from './ring.js';
import { type Frame, frame, HIGH_WATER_MARK, type Sink } from './sink.js';

export interface Connection<Item> {
  readonly keys: readonly string[];
  readonly sink: Sink;
  /**
   * What of an item is for this stream; `missed` when it could not be given at once: it was told before the stream began,
   * or waited for the client to read what came before it. What comes at once is sent whole; what comes later is large, is
   * sent in pieces, and asked for again for the next.
   */
  pick(item: Item, missed: boolean): readonly Frame[] | Promise<readonly Frame[]>;
}

export interface StreamOptions<Item extends RingItem> {
  readonly ring: Ring<Item>;
  /** The position of the last item told, now. */
  readonly latest: () => Position;
  /** Everything up to here the client has seen, or it is not for it. */
  readonly since: Position;
  readonly sent: () => void;
  /** An item could not be picked just now; it is tried again. */
  readonly failed: (error: unknown) => void;
}

export type Stream<Item extends RingItem = RingItem> = ReturnType<typeof createStream<Item>>;

const RETRY_MS = 500;

export function createStream<Item extends RingItem>(
  { keys, sink, pick }: Connection<Item>,
  options: StreamOptions<Item>,
) {
  const { ring, latest, sent, failed } = options;
  let { since } = options;
  /** Of the item after that, so many frames are sent. */
  let frames = 0;
  /** `live`: it has got everything. `reading`: an item is being picked. `full`: it waits for the network. */
  let state: 'live' | 'reading' | 'full' | 'over' = 'live';
  /** What is passed on, in turn: each waits until there is room. */
  let passing: Promise<unknown> = Promise.resolve();
  let makeRoom: (() => void) | undefined;
  /** Told while what happened before it is still in the ring. */
  let pendingEphemeral: Frame[] = [];
  let earlyBytes = 0;
  /** How often it was looked at since the network took anything. */
  let looks = 0;

  function send(each: Frame) {
    if (each.isOver?.()) return;
    sink.send(each);
    sent();
  }

  /** The client can't be given all that it missed, and is told so. */
  function reset() {
    [since, frames] = [latest(), 0];
    if (sink.overrun) sink.overrun();
    else send(frame({ type: 'RESET' }, since));
  }

  /** What is in the log comes first: who is told something of somebody knows that they are there. */
  const hasRoom = () => state === 'over' || (state === 'live' && sink.buffered() < HIGH_WATER_MARK);

  function caughtUp() {
    state = 'live';
    const all = pendingEphemeral;
    [pendingEphemeral, earlyBytes] = [[], 0];
    for (const each of all) send(each);
    wake();
  }

  async function passNext(told: Frame): Promise<boolean> {
    if (!hasRoom())
      await new Promise<void>((resolve) => {
        makeRoom = resolve;
      });
    if (state === 'over') return false;
    send(told);
    return true;
  }

  function wake() {
    if (!makeRoom || !hasRoom()) return;
    const go = makeRoom;
    makeRoom = undefined;
    go();
  }

  /** Sends what is in the ring for as long as the network takes it. `next`: the first of it, where that is known. */
  function pump(next?: Item) {
    // What it was full of may all be gone.
    const isBehind = state === 'full';
    let known = next;
    for (state = 'reading'; state === 'reading'; known = undefined) {
      // Most of the time there is but one.
      const item = known ?? (since === latest() ? undefined : ring.after(since));
      if (since < ring.horizon && (item || isBehind)) reset();
      else if (!item) caughtUp();
      else if (sink.buffered() >= HIGH_WATER_MARK) state = 'full';
      else {
        const picked = pick(item, item !== known);
        if (picked instanceof Promise) {
          // Others get their turn between two items.
          picked.then((all) => setImmediate(sendPiece, item, all), postpone);
          break;
        }
        for (const each of picked) send(each);
        since = item.position;
      }
    }
  }

  function sendPiece({ position }: Item, all: readonly Frame[]) {
    while (state === 'reading' && frames < all.length) {
      if (sink.buffered() >= HIGH_WATER_MARK) state = 'full';
      else send(all[frames++]!);
    }
    if (state !== 'reading') return;
    [since, frames] = [position, 0];
    pump();
  }

  function postpone(error: unknown) {
    failed(error);
    setTimeout(() => state === 'reading' && pump(), RETRY_MS).unref();
  }

  sink.onDrain(() => {
    looks = 0;
    if (state === 'full') pump();
    wake();
  });

  return {
    keys,
    sink,
    send,
    reset,
    pump: () => pump(),
    /** In order with what has happened. */
    tell(told: Frame) {
      if (state === 'live') return send(told);
      pendingEphemeral.push(told);
      earlyBytes += told.json.length;
    },
    /** Bytes that it was told and the network has not taken. */
    unread: () => sink.buffered() + earlyBytes,
    /** Everything up to here is sent, or is not for it. */
    since: () => since,

    /** The last item of the ring is for it; more than once does nothing more. */
    push(item: Item) {
      if (state !== 'live' || since >= item.position) return;
      since = item.position - 1n;
      pump(item);
    },

    /** Shows that it lives; answers how often it was shown in vain. */
    beat(): number {
      // The cursor moves on with the log even where a client is told nothing, or it would fall out of the ring.
      if (since < latest() && state === 'live') since = latest();
      if (state === 'live') sink.beat(since);
      looks = state === 'full' || makeRoom ? looks + 1 : 0;
      return looks;
    },

    /** In order with all that is passed on to it; false where it has ended before there was room. */
    sendWithBackpressure(told: Frame): Promise<boolean> {
      const passed = passing.then(() => passNext(told));
      passing = passed;
      return passed;
    },

    /** Nothing more comes out of the ring. */
    stop() {
      state = 'over';
      pendingEphemeral = [];
      wake();
    },
  };
}
