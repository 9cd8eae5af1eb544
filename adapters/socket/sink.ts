/** A sink that sends messages over a WebSocket: the relay treats it like any other stream. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Frame, Sink } from '../relay/sink.js';
import { CLOSE } from './conversation.js';

/** More is not held back: what a client leaves unread must be told from what was not yet sent. */
const MOST_HELD_BYTES = 16 * 1024;

/** `network` is what the WebSocket writes to: what is sent in one turn goes there in one write, since each costs much. */
export function socketSink(socket: WebSocket, network: Duplex): Sink {
  let isHeld = false;

  function hold() {
    if (isHeld) return;
    isHeld = true;
    network.cork();
    process.nextTick(letGo);
  }

  function letGo() {
    if (!isHeld) return;
    isHeld = false;
    network.uncork();
  }

  return {
    send(frame) {
      hold();
      // What can't be sent any more is nobody's.
      socket.send(encode(frame), { binary: false }, () => {});
      if (network.writableLength >= MOST_HELD_BYTES) letGo();
    },
    // The conversation pings by itself.
    beat() {},
    buffered: () => socket.bufferedAmount,
    onDrain: (listener) => void network.on('drain', listener),
    end: (how, code = CLOSE.over) => socket.close(how === 'over' ? code : CLOSE.restart),
    cut: () => socket.terminate(),
    onClose(listener) {
      if (socket.readyState === socket.CLOSED) listener();
      else socket.once('close', listener);
    },
  };
}

/** Encoded once, however many sockets get the frame. */
const encoded = new WeakMap<Frame, Buffer>();

function encode(frame: Frame): Buffer {
  const known = encoded.get(frame);
  if (known) return known;
  const bytes = Buffer.from(frame.json);
  encoded.set(frame, bytes);
  return bytes;
}
