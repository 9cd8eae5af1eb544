/** Connects a participant to a socket: a seat delivers their messages for as long as it is current. */
import { randomUUID } from 'node:crypto';
import type { Seat } from '../../../application/meeting/join-room.js';
import type { Sink } from '../../realtime/relay/sink.js';

export interface TakenSeat extends Seat {
  readonly participantId: string;
  /** Sink for the relay; it closes when the seat is left. */
  readonly sink: Sink;
  /** Ends the wait of a returning participant: messages are delivered to this seat from now on. */
  welcome(): void;
  /** Closes the connection, as the participant moved to another socket; ignored until `welcome`. */
  yield(): void;
}

/** Close code of a socket after its participant came back over another one. */
const REPLACED = 4001;

/** Creates the consecutive seats on one socket. */
export function createSocketSeats(sink: Sink) {
  let current: (TakenSeat & { notifyDrained(): void }) | undefined;
  // One listener per socket, shared by its consecutive seats.
  sink.onDrain(() => current?.notifyDrained());
  let isClosed = false;
  /** Leaves the current seat, and every later one immediately. Also runs when the socket closes. */
  const close = () => {
    isClosed = true;
    current?.leave();
  };
  sink.onClose(close);

  /** Takes a new seat and leaves the previous one. */
  function take(participantId: string, isReturning: boolean): TakenSeat {
    current?.leave();
    const closeListeners: (() => void)[] = [];
    const drainListeners: (() => void)[] = [];
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
        onDrain: (listener) => void drainListeners.push(listener),
        end: (how, code) => isActive && sink.end(how, code),
        overrun: sink.cut,
        cut: sink.cut,
        onClose: (listener) => {
          if (isActive) closeListeners.push(listener);
          else listener();
        },
      } satisfies Sink,
      notifyDrained() {
        for (const listener of drainListeners) listener();
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
