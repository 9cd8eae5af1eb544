/** A sink that sends messages over a WebSocket: the relay treats it like any other stream. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { encodedOnce, type Sink } from '../relay/sink.js';
import { cutOff, sendAway } from './closed-sockets.js';
import { CLOSE } from './session.js';

/** More is not held back: what a client leaves unread must be told from what was not yet sent. */
const MOST_HELD_BYTES = 16 * 1024;

/** Those that something was sent to in this turn: one callback for all, since each costs as much as a short write. */
let held: (() => void)[] = [];

function letAllGo() {
  const all = held;
  held = [];
  for (const letGo of all) letGo();
}

/**
 * `network` is what the WebSocket writes to, nothing of it compressed or later than it was asked. What is sent in one
 * turn goes there in one write, since each costs much; frames are whole already, since making them for each socket does.
 */
export function socketSink(socket: WebSocket, network: Duplex): Sink {
  let isHeld = false;

  function hold() {
    if (isHeld) return;
    isHeld = true;
    network.cork();
    if (held.push(letGo) === 1) process.nextTick(letAllGo);
  }

  function letGo() {
    if (!isHeld) return;
    isHeld = false;
    network.uncork();
  }

  return {
    send(frame) {
      // What can't be sent any more is nobody's.
      if (socket.readyState !== socket.OPEN) return;
      hold();
      network.write(encode(frame));
      if (network.writableLength >= MOST_HELD_BYTES) letGo();
    },
    // The conversation pings by itself.
    beat() {},
    buffered: () => socket.bufferedAmount,
    onDrain: (listener) => void network.on('drain', listener),
    end: (how, code = CLOSE.over) => sendAway(socket, how === 'over' ? code : CLOSE.restart),
    cut: () => cutOff(socket),
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once('close', listener);
    },
  };
}

const FINAL_TEXT = 0x81;
/** Longer texts have their length behind these in 16 bits, or in 64. */
const [LENGTH_16, LENGTH_64] = [126, 127];

/** A text in one frame (RFC 6455, section 5.2). */
const encode = encodedOnce(({ json }) => {
  const length = Buffer.byteLength(json);
  const [kind, start] = length < LENGTH_16 ? [length, 2] : length < 2 ** 16 ? [LENGTH_16, 4] : [LENGTH_64, 10];
  const bytes = Buffer.allocUnsafe(start + length);
  bytes[0] = FINAL_TEXT;
  bytes[1] = kind;
  if (kind === LENGTH_16) bytes.writeUInt16BE(length, 2);
  if (kind === LENGTH_64) bytes.writeBigUInt64BE(BigInt(length), 2);
  bytes.write(json, start);
  return bytes;
});
