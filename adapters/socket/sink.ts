/** A sink that sends messages over a WebSocket: the relay treats it like any other stream. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Frame, Sink } from '../relay/sink.js';
import { CLOSE } from './conversation.js';

/** `network` is what the WebSocket writes to. */
export function socketSink(socket: WebSocket, network: Duplex): Sink {
  return {
    // What can't be sent any more is nobody's.
    send: (frame) => socket.send(encode(frame), { binary: false }, () => {}),
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
