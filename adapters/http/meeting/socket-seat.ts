/** The place of a socket in a meeting: what its person is told goes there for as long as they have it. */
import { randomUUID } from 'node:crypto';
import type { Seat } from '../../../application/meeting/join-room.js';
import type { Sink } from '../../realtime/relay/sink.js';

/** One seat after the other on one socket, which stays. */
export interface SocketSeats {
  /** The former one is left. */
  take(participantId: string, isReturning: boolean): TakenSeat;
  /** The last one is left, and so is every one that is taken from now on; by itself when the socket ends. */
  close(): void;
}

export interface TakenSeat extends Seat {
  readonly participantId: string;
  /** For a relay: it ends when the seat is left. */
  readonly sink: Sink;
  /** Who comes back has been welcomed: from here on what they are told is for here. */
  welcome(): void;
  /** They are elsewhere now: the connection is closed, unless its own return stands later in the log. */
  yield(): void;
}

/** Of a socket whose person came back over another one. */
const REPLACED = 4001;

export function createSocketSeats(sink: Sink): SocketSeats {
  let current: (TakenSeat & { drained(): void }) | undefined;
  // Once for the socket, which many may sit on in turn.
  sink.onDrain(() => current?.drained());
  let isClosed = false;
  const close = () => {
    isClosed = true;
    current?.leave();
  };
  sink.onClose(close);

  function take(participantId: string, isReturning: boolean): TakenSeat {
    current?.leave();
    const closeListeners: (() => void)[] = [];
    const drained: (() => void)[] = [];
    let isActive = true;
    let isAwaitingWelcome = isReturning;
    const seat = {
      id: randomUUID(),
      participantId,
      sink: {
        send: (frame) => {
          if (isActive && !isAwaitingWelcome) sink.send(frame);
        },
        beat() {},
        buffered: () => (isActive ? sink.buffered() : 0),
        onDrain: (listener) => void drained.push(listener),
        end: (how, code) => isActive && sink.end(how, code),
        overrun: sink.cut,
        cut: sink.cut,
        onClose: (listener) => {
          if (isActive) closeListeners.push(listener);
          else listener();
        },
      } satisfies Sink,
      drained() {
        for (const listener of drained) listener();
      },
      welcome() {
        isAwaitingWelcome = false;
      },
      leave() {
        if (!isActive) return;
        isActive = false;
        if (current === seat) current = undefined;
        for (const listener of closeListeners) listener();
      },
      yield() {
        if (isAwaitingWelcome) return;
        if (isActive) sink.end('over', REPLACED);
        seat.leave();
      },
    };
    current = seat;
    if (isClosed) seat.leave();
    return seat;
  }

  return { take, close };
}
