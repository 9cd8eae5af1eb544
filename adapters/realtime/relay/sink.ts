/** The output of a stream: one client connection. Server-sent events (HTML standard, 9.2) here; see also websocket/sink.ts. */
import type { ServerResponse } from 'node:http';
import type { Position } from '../../../application/ports/index.js';

/** A message to clients, shared by all recipients. */
export interface Frame {
  /** One JSON document on one line. */
  readonly json: string;
  /** Cursor to resume with after this frame; absent for ephemeral frames. */
  readonly position?: Position;
  /** Checked before it is sent: true if it is outdated and must be skipped. */
  isStale?(): boolean;
}

export interface Sink {
  /** Accepts a frame, in order. No effect after the connection has ended. */
  send(frame: Frame): void;
  /** Sends a heartbeat, with the cursor of everything sent so far. */
  beat(position?: Position): void;
  /** Bytes accepted here that the network has not accepted yet. */
  buffered(): number;
  /** Calls back when the buffer has emptied after holding `HIGH_WATER_MARK` or more. */
  onDrain(listener: () => void): void;
  /** Ends the connection once all is delivered. `resume` asks the client to reconnect. `code` is for WebSockets. */
  end(how: 'over' | 'resume', code?: number): void;
  /** Called if the client was too slow for the ring. Without it, the client gets a `RESET`. */
  overrun?(): void;
  /** Cuts the connection immediately: the client does not read. */
  cut(): void;
  /** Calls back once when the connection ends, or immediately if it has. */
  onClose(listener: () => void): void;
}

/** Ring items are sent only while fewer bytes than this are buffered. */
export const HIGH_WATER_MARK = 64 * 1024;

/** Creates the frame of a message. Serialized when it is sent, since most events have no listener. */
export const frame = (message: object, position?: Position): Frame => new MessageFrame(message, position);

class MessageFrame implements Frame {
  constructor(
    private readonly message: object,
    readonly position?: Position,
  ) {}

  get json(): string {
    return JSON.stringify(this.message);
  }
}

export const frameOf = (json: () => string): Frame => ({
  get json() {
    return json();
  },
});

/** Encodes each frame once per kind of connection. The bytes are stored on the frame: a weak map costs as much. */
export function encodedOnce(encode: (frame: Frame) => Buffer): (frame: Frame) => Buffer {
  const bytes = Symbol('bytes');
  return (frame: Frame & { [bytes]?: Buffer }) => {
    frame[bytes] ??= encode(frame);
    return frame[bytes];
  };
}

/** Headers of every event stream. The last one keeps proxies from buffering. */
export const SSE_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/** Sends the headers and takes over the response. */
export function openSse(response: ServerResponse, headers: { readonly [name: string]: string } = {}): Sink {
  response.writeHead(200, { ...SSE_HEADERS, ...headers });
  response.flushHeaders();
  // `close` follows every error.
  response.on('error', () => {});
  const write = (chunk: string | Buffer) => {
    if (!response.writableEnded && !response.destroyed) response.write(chunk);
  };
  return {
    send: (frame) => write(encode(frame)),
    beat: (position) => write(position === undefined ? ':\n\n' : `:\nid: ${position}\n\n`),
    buffered: () => response.writableLength,
    onDrain: (listener) => void response.on('drain', listener),
    end(how) {
      if (how === 'resume') write(`retry: ${retryMs()}\n\n`);
      response.end();
    },
    cut: () => void response.destroy(),
    onClose(listener) {
      if (response.closed) listener();
      else response.once('close', listener);
    },
  };
}

const encode = encodedOnce(({ json, position }) => {
  // In one block: clients ignore the id of a block without data (docs/guide/relay.md).
  const cursor = position === undefined ? '' : `id: ${position}\n`;
  return Buffer.from(`${cursor}data: ${json}\n\n`);
});

/** Random, so that clients do not all reconnect at the same moment. */
const retryMs = () => 250 + Math.floor(Math.random() * 1750);
