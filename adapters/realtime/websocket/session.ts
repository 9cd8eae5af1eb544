/** Runs one WebSocket: handles messages in order and at a limited rate, and detects silent clients. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type After, type Reservation, systemTimer } from '../../../application/concurrency/index.js';
import type { Clock, Logger } from '../../../application/ports/index.js';
import type { Sink } from '../relay/sink.js';
import {
  createRate,
  type Message,
  type MessageError,
  messageCost,
  type Read,
  trackIncompleteMessages,
  waitForSlot,
} from './client-messages.js';
import { CLOSE, closeCodeOf, closeSocket, isLocallyClosed, terminateSocket } from './sink.js';

export interface SessionHandler {
  /** Handles a message. The next one waits until this settles, so that a client can be slowed down. */
  onMessage(message: Message): Promise<void> | void;
  /** Handles a rejected message. The connection stays open. */
  misunderstood(misunderstanding: MessageError): void;
  /** Called once when the connection has ended. `code`: the close code, 1006 without a close frame. */
  onClose(code: number): void;
}

export interface SessionControl {
  readonly sink: Sink;
  /** Closes the connection once everything is delivered. `code` is a standard code or 4000 to 4999. */
  close(code: number, reason?: string): void;
}

export interface SocketAnswer {
  converse(speaker: SessionControl): SessionHandler;
}

export interface AcceptedSocket extends SocketAnswer {
  readonly options: SessionOptions;
}

export interface SessionOptions {
  readonly read: Read;
  /** Concurrency budget of the client's network; each message being handled takes 1. */
  readonly place: Pick<Reservation, 'acquire' | 'giveBack'>;
  /** Memory budget of the client's network, for received messages that are not handled yet. */
  readonly bytes: Pick<Reservation, 'acquire' | 'giveBack'>;
  /** Messages per second. Excess messages are rejected; a client that continues is closed with 1008. */
  readonly perSecond: number;
  readonly logger: Logger;
  readonly after?: After | undefined;
  readonly clock?: Clock | undefined;
}

const PING_MS = 25_000;
/** Ping interval for a paused client: only a failed write shows that it is gone. */
const PAUSED_PING_MS = 5000;
/** Milliseconds without any message or pong after which a client counts as gone. */
const SILENCE_MS = 60_000;
/** Milliseconds to finish pending messages after a client has closed. */
const DRAIN_MS = 2000;
/** Limits of pending messages, beyond which the socket is not read. */
const MAX_PENDING = 16;
const MAX_PENDING_BYTES = 64 * 1024;

/** Unread bytes at which a client that still sends is cut: one message of 1 MiB and as much of others. */
const MAX_UNREAD_BYTES = 2 * 1024 * 1024;

interface ReceivedMessage {
  readonly data: Buffer;
  readonly cost: number;
  /** Dropped because its budget was exhausted. */
  readonly isDropped: boolean;
}

export function runSession(
  socket: WebSocket,
  network: Duplex,
  begin: (close: SessionControl['close']) => SessionHandler,
  { read, place, bytes, perSecond, logger, after = systemTimer, clock = performance }: SessionOptions,
): void {
  const pending: ReceivedMessage[] = [];
  let pendingBytes = 0;
  const rate = createRate(perSecond, clock);
  let isHandling = false;
  /** Close code once the socket has ended. */
  let closeCode: number | undefined;
  let isClosed = false;
  let lastActivity = clock.now();

  // `close` follows every error.
  socket.on('error', (err) => logger.debug({ err }, 'WebSocket error'));

  const fail = (err: unknown) => {
    logger.error({ err }, 'WebSocket session failed');
    closeSocket(socket, CLOSE.failed, 'Internal error');
  };

  let conversation: SessionHandler;
  try {
    conversation = begin((code, reason) => closeSocket(socket, code, reason));
  } catch (error) {
    fail(error);
    return;
  }

  async function handlePending() {
    isHandling = true;
    try {
      while (pending[0]) {
        // More messages may arrive meanwhile; `isFull` pauses the socket.
        const startedAt = clock.now();
        const slot = waitForSlot(pending[0].cost);
        if (slot) await slot;
        const next = pending.shift();
        if (!next) break;
        pendingBytes -= next.data.length;
        if (!isFull() && socket.isPaused) {
          // It was not read meanwhile, so it cannot count as silent.
          onActivity();
          socket.resume();
        }
        try {
          const handling = isLocallyClosed(socket) ? undefined : handle(next);
          if (handling) await handling;
        } finally {
          bytes.giveBack(next.data.length);
          rate.held(clock.now() - startedAt);
        }
        if (socket.bufferedAmount > MAX_UNREAD_BYTES) terminateSocket(socket);
      }
    } catch (error) {
      fail(error);
    }
    isHandling = false;
    if (closeCode !== undefined) finish(closeCode);
  }

  function handle({ data, isDropped }: ReceivedMessage): Promise<void> | void {
    const overLimit = rate.next();
    if (overLimit === 'again') return closeSocket(socket, CLOSE.policy, 'Too many messages');
    const parsed = overLimit || isDropped ? ({ why: 'too-many' } as const) : read(String(data));
    if ('why' in parsed) return conversation.misunderstood(parsed);
    if (place.acquire(1)) return conversation.misunderstood({ why: 'too-many' });
    const release = () => place.giveBack(1);
    try {
      const handling = conversation.onMessage(parsed.message);
      if (handling) return handling.finally(release);
    } catch (error) {
      release();
      throw error;
    }
    release();
  }

  const isFull = () => pending.length > MAX_PENDING || pendingBytes > MAX_PENDING_BYTES;
  const onActivity = () => {
    lastActivity = clock.now();
  };
  trackIncompleteMessages(socket, network, bytes, () => {
    closeSocket(socket, CLOSE.later, 'Too much is under way');
    // Reads nothing more, not even its close frame.
    setImmediate(() => socket.terminate());
  });
  socket.on('message', (data, isBinary) => {
    onActivity();
    // Binary messages and messages with too many values are handled as unreadable.
    const cost = isBinary ? undefined : messageCost(data as Buffer);
    const payload = cost === undefined ? EMPTY : (data as Buffer);
    const isDropped = bytes.acquire(payload.length) !== undefined;
    pending.push({ data: isDropped ? EMPTY : payload, cost: cost ?? 0, isDropped });
    pendingBytes += pending.at(-1)!.data.length;
    if (isFull()) socket.pause();
    if (!isHandling) void handlePending();
  });
  socket.on('pong', onActivity).on('ping', onActivity);

  let sincePingMs = 0;
  let cancelTimer = after(PAUSED_PING_MS, checkAlive);
  function checkAlive() {
    // A paused client is not silent: its messages wait here.
    if (clock.now() - lastActivity >= SILENCE_MS && !socket.isPaused) return terminateSocket(socket);
    sincePingMs += PAUSED_PING_MS;
    if (sincePingMs >= PING_MS || socket.isPaused) {
      sincePingMs = 0;
      socket.ping();
    }
    cancelTimer = after(PAUSED_PING_MS, checkAlive);
  }
  socket.once('close', (received) => {
    cancelTimer();
    const code = closeCodeOf(socket) ?? received;
    closeCode = code;
    if (pending.length === 0 || isLocallyClosed(socket)) finish(code);
    else cancelTimer = after(DRAIN_MS, () => finish(code));
  });

  function finish(code: number) {
    if (isClosed) return;
    isClosed = true;
    cancelTimer();
    bytes.giveBack(pendingBytes);
    pendingBytes = pending.length = 0;
    conversation.onClose(code);
  }
}

const EMPTY = Buffer.alloc(0);
