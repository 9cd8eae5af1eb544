/** The WebSocket of a meeting, opened again by itself when it is lost. */
import type { ClientMessage, ServerMessage } from './messages.js';

/** What the service closes with when there is nothing to come back for. */
export const REPLACED = 4001;
export const REMOVED = 4003;
export const REFUSED = 4004;
const UNWELCOME = 1008;
const RESTARTS = 1012;

const FIRST_WAIT_MS = 1000;
/** The service takes ten connections a minute from a network. */
const LONGEST_WAIT_MS = 15_000;

export interface Hearing {
  opened(): void;
  heard(message: ServerMessage): void;
  /** `willRetry`: it is opened again by itself. */
  lost(code: number, reason: string, willRetry: boolean): void;
}

export interface Line {
  readonly isOpen: boolean;
  /** Bytes that are said and not sent yet. */
  readonly unsent: number;
  /** Returns false, and says nothing, where it is not open. */
  say(message: ClientMessage): boolean;
  hangUp(): void;
}

export function openLine(url: URL, hearing: Hearing): Line {
  let socket: WebSocket;
  let waitMs = FIRST_WAIT_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isWanted = true;

  function open() {
    socket = new WebSocket(url);
    socket.onopen = () => {
      waitMs = FIRST_WAIT_MS;
      hearing.opened();
    };
    socket.onmessage = ({ data }) => hearing.heard(JSON.parse(String(data)));
    socket.onclose = ({ code, reason }) => {
      if (!isWanted) return;
      isWanted = ![REPLACED, REMOVED, REFUSED, UNWELCOME].includes(code);
      if (!isWanted) return hearing.lost(code, reason, false);
      // Not all at once, when all have lost it at once.
      const againInMs = (code === RESTARTS ? FIRST_WAIT_MS : waitMs) * (0.5 + Math.random());
      waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
      hearing.lost(code, reason, true);
      timer = setTimeout(open, againInMs);
    };
  }
  open();

  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    get unsent() {
      return socket.bufferedAmount;
    },
    say(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify({ roomId: '', participantId: '', timestamp: Date.now(), ...message }));
      return true;
    },
    hangUp() {
      isWanted = false;
      clearTimeout(timer);
      socket.close(1000);
    },
  };
}
