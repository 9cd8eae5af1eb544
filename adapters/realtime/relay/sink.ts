/** The output of a stream: one client connection, SSE or WebSocket. */
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
  /**
   * Ends the connection once everything is delivered. `resume` asks the client to reconnect. `code` is for
   * WebSockets.
   */
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

/** Creates a frame from a function that returns the JSON. */
export function frameOf(json: () => string, position?: Position): Frame {
  return {
    get json() {
      return json();
    },
    ...(position === undefined ? {} : { position }),
  };
}

/**
 * Encodes each frame once per kind of connection. The bytes are stored on the frame: a weak map would cost the
 * garbage collector as much as the encoding.
 */
export function encodedOnce(encode: (frame: Frame) => Buffer): (frame: Frame) => Buffer {
  const bytes = Symbol('bytes');
  return (frame: Frame & { [bytes]?: Buffer }) => {
    frame[bytes] ??= encode(frame);
    return frame[bytes];
  };
}
