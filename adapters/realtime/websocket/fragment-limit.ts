/** Accounts for the bytes of messages that are incomplete, which may never be completed. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reservation } from '../../../application/concurrency/index.js';

/** Bytes per incomplete message that are not counted; hardly any message is larger. */
const FREE_BYTES = 16 * 1024;
/** Overhead of a control frame: mask and length. */
const CONTROL_BYTES = 6;

/** Calls back once when there is no room for the rest of an incomplete message. */
export function trackIncompleteMessages(
  socket: WebSocket,
  network: Duplex,
  bytes: Pick<Reservation, 'acquire' | 'giveBack'>,
  onShortage: () => void,
): void {
  let [received, reserved] = [0, 0];

  const updateReservation = (bytesNow: number) => {
    received = Math.max(0, bytesNow);
    const required = Math.max(0, received - FREE_BYTES);
    if (required < reserved) bytes.giveBack(reserved - required);
    else if (required > reserved && bytes.acquire(required - reserved)) {
      network.off('data', onData);
      return onShortage();
    }
    reserved = required;
  };
  const onData = (chunk: Buffer) => updateReservation(received + chunk.length);
  const onControl = (data: Buffer) => updateReservation(received - data.length - CONTROL_BYTES);

  // Before the WebSocket's own listener.
  network.prependListener('data', onData);
  // The start of the next message in the same chunk is nearly always below the free size.
  socket.on('message', () => updateReservation(0));
  socket.on('ping', onControl).on('pong', onControl);
  socket.once('close', () => updateReservation(0));
}
