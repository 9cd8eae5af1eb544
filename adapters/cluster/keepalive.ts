/** Whether the other end of a connection still lives: one that is frozen keeps its connections, and answers nothing. */
import type { WebSocket } from 'ws';
import type { After } from '../platform/process/timer.js';

const PING_MS = 1000;
/** Pings in a row that nobody answered. Counted, not timed: who was paused itself must not blame the other. */
const MOST_UNANSWERED = 4;

/** Cuts a connection whose other end has not answered for some seconds. */
export function watchLiving(socket: WebSocket, after: After): void {
  let unanswered = 0;
  const look = () => {
    if (unanswered === MOST_UNANSWERED) return socket.terminate();
    unanswered++;
    socket.ping();
    callOff = after(PING_MS, look);
  };
  let callOff = after(PING_MS, look);
  const hear = () => {
    unanswered = 0;
  };
  socket.on('pong', hear).on('message', hear);
  socket.once('close', () => callOff());
}
