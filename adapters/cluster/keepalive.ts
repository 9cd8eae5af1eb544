/** Closes a connection when its peer stops answering pings: a frozen process keeps its connections open. */
import type { WebSocket } from 'ws';
import type { After } from '../platform/process/timer.js';

const PING_MS = 1000;
/** Unanswered pings in a row before the cut. Counted, not timed: this process may have been paused itself. */
const MAX_UNANSWERED = 4;

/** Terminates a connection after about 4 s without an answer of its peer. */
export function keepAlive(socket: WebSocket, after: After): void {
  let unanswered = 0;
  const ping = () => {
    if (unanswered === MAX_UNANSWERED) return socket.terminate();
    unanswered++;
    socket.ping();
    cancel = after(PING_MS, ping);
  };
  let cancel = after(PING_MS, ping);
  const onAnswer = () => {
    unanswered = 0;
  };
  socket.on('pong', onAnswer).on('message', onAnswer);
  socket.once('close', () => cancel());
}
