/** One client's connection: messages in, answers out, one after another. */
import type { Socket } from 'node:net';
import { type Answer, answer, failure } from './commands/dispatch.js';
import type { Engine } from './commands/engine.js';
import type { Connection } from './commands/request.js';
import { Framer, MAX_MESSAGE } from './wire/frame.js';
import { type Message, readMessage, type Unreadable, writeReply } from './wire/message.js';

/** Bytes of the longest message of a client that has not authenticated: a greeting is a tenth of it. */
const MAX_GREETING = 16_384;
/** Messages that wait behind the one being answered; beyond this nothing more is read. */
const MAX_WAITING = 64;
/** Of a client that has not authenticated: drivers wait for each answer. */
const MAX_WAITING_GREETINGS = 4;

export interface Watch {
  /** Called when the client has shown the secret of this start. */
  known(): void;
  /** Called before each message is served. */
  called(): void;
}

/** Serves a socket until either side closes it. What cannot be understood as a message closes it. */
export function serve(engine: Engine, socket: Socket, id: number, { known, called }: Watch): void {
  const connection: Connection = {
    id,
    authenticated: false,
    known,
    conversation: undefined,
    closed: false,
    waiting: undefined,
  };
  const waiting: (Message | Unreadable)[] = [];
  const mostWaiting = () => (connection.authenticated ? MAX_WAITING : MAX_WAITING_GREETINGS);
  let busy = false;
  engine.connections++;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    engine.connections--;
    connection.closed = true;
    waiting.length = 0;
    connection.waiting?.();
    engine.cursors.leave(connection);
  });

  const framer = new Framer(
    (bytes) => {
      called();
      if (socket.destroyed) return;
      const message = readMessage(bytes);
      waiting.push(message);
      if (waiting.length >= mostWaiting()) socket.pause();
      if (!busy) work().catch(() => socket.destroy());
    },
    () => (connection.authenticated ? MAX_MESSAGE : MAX_GREETING),
  );
  socket.on('data', (chunk) => {
    try {
      framer.push(chunk);
    } catch {
      socket.destroy();
    }
  });

  async function work(): Promise<void> {
    busy = true;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (waiting.length < mostWaiting()) socket.resume();
      if ('error' in next) await send({ id: next.id, legacy: false }, failure(next.error), false);
      else await handle(next);
    }
    busy = false;
  }

  /** Answers a message; a client that waits for changes of the topology gets answer after answer. */
  async function handle(message: Message): Promise<void> {
    let current = await answer(engine, message, connection);
    if (message.silent) return;
    const streams = message.exhaust && current.ok && awaits(message);
    let sent = await send(message, current, streams);
    while (streams && current.ok && !connection.closed) {
      current = await answer(engine, { ...message, repeated: true }, connection);
      sent = await send({ id: sent, legacy: false }, current, current.ok);
    }
  }

  /** Writes an answer, and waits while the client does not take what it is sent. */
  async function send(to: { id: number; legacy: boolean }, { body, ok }: Answer, more: boolean): Promise<number> {
    const reply = writeReply(to, body, engine.clock.tail(ok), more);
    if (!connection.closed && !socket.write(reply.bytes)) await drained(socket);
    return reply.id;
  }
}

/** Resolves when the client has taken what waits for it, or has gone. */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

const AWAIT = Buffer.from('maxAwaitTimeMS\0');

/** Whether a message waits for something, and so may be answered again and again. */
const awaits = ({ body }: Message): boolean => body.bytes.subarray(body.start, body.end).includes(AWAIT);
