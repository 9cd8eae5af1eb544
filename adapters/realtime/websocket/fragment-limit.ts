/** Messages that come in pieces: what has come of one counts before the whole is there, which it may never be. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reservation } from '../../../application/concurrency/index.js';

/** Of a message in the making so much is nobody's concern: hardly any is larger. */
const FREE_BYTES = 16 * 1024;
/** A mask of its own, and its length: what a frame of control has besides its data. */
const CONTROL_BYTES = 6;

/** Tells, once, when there is no room for more of a message that is not whole yet. */
export function watchUnfinished(
  socket: WebSocket,
  network: Duplex,
  bytes: Pick<Reservation, 'acquire' | 'giveBack'>,
  lacking: () => void,
): void {
  let [came, held] = [0, 0];

  const settle = (now: number) => {
    came = Math.max(0, now);
    const wanted = Math.max(0, came - FREE_BYTES);
    if (wanted < held) bytes.giveBack(held - wanted);
    else if (wanted > held && bytes.acquire(wanted - held)) {
      network.off('data', hear);
      return lacking();
    }
    held = wanted;
  };
  const hear = (chunk: Buffer) => settle(came + chunk.length);
  const control = (data: Buffer) => settle(came - data.length - CONTROL_BYTES);

  // Before the WebSocket, which makes messages of it.
  network.prependListener('data', hear);
  // What of the next one came with its end is less than what is free, nearly always.
  socket.on('message', () => settle(0));
  socket.on('ping', control).on('pong', control);
  socket.once('close', () => settle(0));
}
