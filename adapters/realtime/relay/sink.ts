/** Where frames go: one connection of one client, whatever the protocol (SSE now, WebSocket as well). */
import type { Position } from '../../../application/ports/index.js';

/** What a client is told, the same for everyone who gets it. */
export interface Frame {
  /** One JSON document on one line. */
  readonly json: string;
  /** The cursor a client resumes with once it has seen this frame; absent where nothing can be resumed. */
  readonly position?: Position;
  /** Asked when its turn has come: it is not to be sent any more. */
  isOver?(): boolean;
}

export interface Sink {
  /** Takes the frame at once, in order; nothing happens once the connection is over. */
  send(frame: Frame): void;
  /** Shows that the connection lives, and where in the log everything sent so far has brought the client. */
  beat(position?: Position): void;
  /** Bytes taken from us that the network has not taken yet. */
  buffered(): number;
  /** Runs whenever the network has taken everything after `HIGH_WATER_MARK` or more had been waiting for it. */
  onDrain(listener: () => void): void;
  /** Ends once everything sent is delivered. With `resume`, the client is told to come back. `code` is for WebSockets. */
  end(how: 'over' | 'resume', code?: number): void;
  /** It was so slow that what it has not been told yet is kept no longer; without, it is told to read the state. */
  overrun?(): void;
  /** Cuts the connection now: the client does not read what it is sent. */
  cut(): void;
  /** Runs once, however the connection ends; at once if it has ended. */
  onClose(listener: () => void): void;
}

/** What can wait is sent only while fewer bytes than this wait for the network. */
export const HIGH_WATER_MARK = 64 * 1024;

/** The frame of a message; serialised when it is sent, for nobody listens to most of the log. */
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

/** The same of a message that is written by somebody else. */
export function frameOf(json: () => string, position?: Position): Frame {
  return {
    get json() {
      return json();
    },
    ...(position === undefined ? {} : { position }),
  };
}

/**
 * The bytes of frames for one kind of connection, made once however many of them get the frame. They are kept with it:
 * a map beside it that is weak costs the collector of garbage as much as the encoding.
 */
export function encodedOnce(encode: (frame: Frame) => Buffer): (frame: Frame) => Buffer {
  const bytes = Symbol('bytes');
  return (frame: Frame & { [bytes]?: Buffer }) => {
    frame[bytes] ??= encode(frame);
    return frame[bytes];
  };
}
