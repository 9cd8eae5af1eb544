/** WebSocket of a meeting that reconnects automatically. */
import type { ClientMessage, ServerMessage } from './messages.js';

/** Close codes after which it does not reconnect. */
export const REPLACED = 4001;
export const REMOVED = 4003;
export const REFUSED = 4004;
const POLICY_VIOLATION = 1008;
const SERVICE_RESTART = 1012;

const MIN_RETRY_MS = 1000;
/** Short enough for the service's limit of ten connections a minute per network. */
const MAX_RETRY_MS = 15_000;

export interface SocketListener {
  onOpen(): void;
  onMessage(message: ServerMessage): void;
  /** `willRetry`: it reconnects automatically. */
  onClose(code: number, reason: string, willRetry: boolean): void;
}

export interface ReconnectingSocket {
  readonly isOpen: boolean;
  /** Bytes not sent to the network yet. */
  readonly bufferedBytes: number;
  /** Returns false, without sending, if the socket is not open. */
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
      // Jitter spreads the reconnects of many clients.
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
