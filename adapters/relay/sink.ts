/** Where frames go: one connection of one client, whatever the protocol (SSE now, WebSocket as well). */
import type { Position } from '../../application/ports.js';

/** What a client is told, serialised once for everyone who gets it. */
export interface Frame {
  /** One JSON document on one line. */
  readonly json: string;
  /** The cursor a client resumes with once it has seen this frame; absent where nothing can be resumed. */
  readonly position?: Position;
}

export interface Sink {
  /** Takes the frame at once, in order; nothing happens once the connection is over. */
  send(frame: Frame): void;
  /** Shows that the connection lives, and where in the log everything sent so far has brought the client. */
  beat(position?: Position): void;
  /** Bytes taken from us that the network has not taken yet. */
  buffered(): number;
  /** Ends once everything sent is delivered. With `resume`, the client is told to come back. */
  end(how: 'over' | 'resume'): void;
  /** Cuts the connection now: the client does not read what it is sent. */
  cut(): void;
  /** Runs once, however the connection ends; at once if it has ended. */
  onClose(listener: () => void): void;
}

/** The frame of a message; serialised when it is first sent, for nobody listens to most of the log. */
export function frame(message: object, position?: Position): Frame {
  let json: string | undefined;
  return {
    get json() {
      json ??= JSON.stringify(message);
      return json;
    },
    ...(position === undefined ? {} : { position }),
  };
}
