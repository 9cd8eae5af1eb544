/** The WebSocket of a meeting, opened again by itself when it is lost. */
import type { ClientMessage, ServerMessage } from './messages.js';

/** What the service closes with when there is nothing to come back for. */
export const REPLACED = 4001;
export const REMOVED = 4003;
export const REFUSED = 4004;
const POLICY_VIOLATION = 1008;
const SERVICE_RESTART = 1012;

const MIN_RETRY_MS = 1000;
/** The service takes ten connections a minute from a network. */
const MAX_RETRY_MS = 15_000;

export interface SocketListener {
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  /** `willRetry`: it is opened again by itself. */
  onClose(code: number, reason: string, willRetry: boolean): void;
}

export interface ReconnectingSocket {
  readonly isOpen: boolean;
  /** Bytes that are said and not sent yet. */
  readonly bufferedBytes: number;
  /** Returns false, and says nothing, where it is not open. */
  send(message: ClientMessage): boolean;
  close(): void;
}

export function openSocket(url: URL, listener: SocketListener): ReconnectingSocket {
  let socket: WebSocket;
  let retryMs = MIN_RETRY_MS;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let shouldReconnect = true;

  function open() {
    socket = new WebSocket(url);
    socket.onopen = () => {
      retryMs = MIN_RETRY_MS;
      listener.onOpen();
    };
    socket.onmessage = ({ data }) => listener.onMessage(JSON.parse(String(data)));
    socket.onclose = ({ code, reason }) => {
      if (!shouldReconnect) return;
      shouldReconnect = ![REPLACED, REMOVED, REFUSED, POLICY_VIOLATION].includes(code);
      if (!shouldReconnect) return listener.onClose(code, reason, false);
      // Not all at once, when all have lost it at once.
      const delayMs = (code === SERVICE_RESTART ? MIN_RETRY_MS : retryMs) * (0.5 + Math.random());
      retryMs = Math.min(2 * retryMs, MAX_RETRY_MS);
      listener.onClose(code, reason, true);
      timer = setTimeout(open, delayMs);
    };
  }
  open();

  return {
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify({ roomId: '', participantId: '', timestamp: Date.now(), ...message }));
      return true;
    },
    close() {
      shouldReconnect = false;
      clearTimeout(timer);
      socket.close(1000);
    },
  };
}
