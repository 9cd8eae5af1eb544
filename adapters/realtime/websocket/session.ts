/** One WebSocket: what its client says is read in order and at a bounded rate; one that is silent has left. */
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { Clock, Logger } from '../../../application/ports/index.js';
import { type After, afterAll } from '../../platform/process/timer.js';
import type { Sink } from '../relay/sink.js';
import { cutOff, isSentAway, sendAway, sentAwayWith } from './closed-sockets.js';
import { turnFor } from './fair-turns.js';
import { watchUnfinished } from './fragment-limit.js';
import { weightOf } from './message-cost.js';
import { createRate } from './message-rate.js';
import type { Message, Misunderstanding, Read } from './message-schema.js';

/** What a service makes of a client's messages. */
export interface Conversation {
  /** Messages come one by one: the next when this has settled, so that a client can be slowed down. */
  onMessage(message: Message): Promise<void> | void;
  /** The connection goes on. */
  misunderstood(misunderstanding: Misunderstanding): void;
  /** However it ended; nothing comes after it. `code`: the close code, 1006 where there was no close frame. */
  onClose(code: number): void;
}

/** The service's hold of the connection. */
export interface Speaker {
  readonly sink: Sink;
  /** Ends it once all that was sent is delivered; `code` is one of the protocol's or of 4000 to 4999. */
  close(code: number, reason?: string): void;
}

/** A WebSocket that is to be opened: the answer of a route with a vocabulary. */
export interface Conversing {
  converse(speaker: Speaker): Conversation;
}

/** What is there to be opened, for who writes answers. */
export interface Opening extends Conversing {
  readonly options: ConversationOptions;
}

export interface ConversationOptions {
  readonly read: Read;
  /** Among what is under way for its network: a message that is being answered takes a place. */
  readonly place: Pick<Reservation, 'acquire' | 'giveBack'>;
  /** Among the bodies of its network: the bytes of what came and is not answered yet. */
  readonly bytes: Pick<Reservation, 'acquire' | 'giveBack'>;
  /** Messages a second; what comes above it is not understood, and who goes on like that is sent away with 1008. */
  readonly perSecond: number;
  readonly logger: Logger;
  readonly after?: After | undefined;
  /** Of what only ever goes on. */
  readonly clock?: Clock | undefined;
}

const PING_MS = 25_000;
/** Of who is not read just now it is only seen by writing that they have gone. */
const PAUSED_PING_MS = 5000;
/** A client of whom nothing was heard for so long, not even that it lives, has left. */
const SILENT_MS = 60_000;
/** What came before a client went by itself is done first, for so long. */
const FAREWELL_MS = 2000;
/** Messages that wait for the one before them; with more, or more bytes of them, nothing is read from the network. */
const WAITING = 16;
const WAITING_BYTES = 64 * 1024;

/** Who says something and leaves so many bytes of what he is told unread is cut: one message of 1 MiB, and as much of others. */
const MOST_UNREAD = 2 * 1024 * 1024;

/** https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number */
export const CLOSE = { over: 1000, policy: 1008, failed: 1011, restart: 1012, later: 1013 } as const;

/** A message as it came. */
interface Came {
  readonly data: Buffer;
  /** What it costs to read it. */
  readonly weight: number;
  /** There was no room for it, and it is not kept. */
  readonly lacking: boolean;
}

/** `network` is what the WebSocket reads from. */
export function runSession(
  socket: WebSocket,
  network: Duplex,
  begin: (close: Speaker['close']) => Conversation,
  { read, place, bytes, perSecond, logger, after = afterAll, clock = performance }: ConversationOptions,
): void {
  const waiting: Came[] = [];
  let waitingBytes = 0;
  const rate = createRate(perSecond, clock);
  let answering = false;
  /** The close code once the socket has ended. */
  let endedWith: number | undefined;
  let hasLeft = false;
  let heard = clock.now();

  // What breaks the protocol closes by itself, and what broke on the way was lost anyway.
  socket.on('error', (err) => logger.debug({ err }, 'a WebSocket broke'));

  const fail = (err: unknown) => {
    logger.error({ err }, 'a conversation failed');
    sendAway(socket, CLOSE.failed, 'Internal error');
  };

  let conversation: Conversation;
  try {
    conversation = begin((code, reason) => sendAway(socket, code, reason));
  } catch (error) {
    fail(error);
    return;
  }

  async function answerAll() {
    answering = true;
    try {
      while (waiting[0]) {
        // Meanwhile more comes and waits, and no more than may is read.
        const began = clock.now();
        const turn = turnFor(waiting[0].weight);
        if (turn) await turn;
        const came = waiting.shift();
        if (!came) break;
        waitingBytes -= came.data.length;
        if (!isFull() && socket.isPaused) {
          // Nothing could be heard of it meanwhile.
          hear();
          socket.resume();
        }
        try {
          const answered = isSentAway(socket) ? undefined : answer(came);
          if (answered) await answered;
        } finally {
          bytes.giveBack(came.data.length);
          rate.held(clock.now() - began);
        }
        if (socket.bufferedAmount > MOST_UNREAD) cutOff(socket);
      }
    } catch (error) {
      fail(error);
    }
    answering = false;
    if (endedWith !== undefined) leave(endedWith);
  }

  function answer({ data, lacking }: Came): Promise<void> | void {
    const tooMany = rate.next();
    if (tooMany === 'again') return sendAway(socket, CLOSE.policy, 'Too many messages');
    const found = tooMany || lacking ? ({ why: 'too-many' } as const) : read(String(data));
    if ('why' in found) return conversation.misunderstood(found);
    if (place.acquire(1)) return conversation.misunderstood({ why: 'too-many' });
    const over = () => place.giveBack(1);
    try {
      const answered = conversation.onMessage(found.message);
      if (answered) return answered.finally(over);
    } catch (error) {
      over();
      throw error;
    }
    over();
  }

  const isFull = () => waiting.length > WAITING || waitingBytes > WAITING_BYTES;
  const hear = () => {
    heard = clock.now();
  };
  watchUnfinished(socket, network, bytes, () => {
    sendAway(socket, CLOSE.later, 'Too much is under way');
    // Nothing more of it is read, not even its farewell.
    setImmediate(() => socket.terminate());
  });
  socket.on('message', (data, isBinary) => {
    hear();
    // Bytes are no message of ours, nor is a heap of values: they are read as what they are not.
    const weight = isBinary ? undefined : weightOf(data as Buffer);
    const said = weight === undefined ? NOTHING : (data as Buffer);
    const lacking = bytes.acquire(said.length) !== undefined;
    waiting.push({ data: lacking ? NOTHING : said, weight: weight ?? 0, lacking });
    waitingBytes += waiting.at(-1)!.data.length;
    if (isFull()) socket.pause();
    if (!answering) void answerAll();
  });
  socket.on('pong', hear).on('ping', hear);

  let unpinged = 0;
  let callOff = after(PAUSED_PING_MS, look);
  function look() {
    // What waits to be answered was heard, however long that takes.
    if (clock.now() - heard >= SILENT_MS && !socket.isPaused) return cutOff(socket);
    unpinged += PAUSED_PING_MS;
    if (unpinged >= PING_MS || socket.isPaused) {
      unpinged = 0;
      socket.ping();
    }
    callOff = after(PAUSED_PING_MS, look);
  }
  socket.once('close', (received) => {
    callOff();
    const code = sentAwayWith(socket) ?? received;
    endedWith = code;
    if (waiting.length === 0 || isSentAway(socket)) leave(code);
    else callOff = after(FAREWELL_MS, () => leave(code));
  });

  function leave(code: number) {
    if (hasLeft) return;
    hasLeft = true;
    callOff();
    bytes.giveBack(waitingBytes);
    waitingBytes = waiting.length = 0;
    conversation.onClose(code);
  }
}

const NOTHING = Buffer.alloc(0);
