/** Serves one client connection: decodes messages and answers them one after another. */
import type { Socket } from 'node:net';
import { type Answer, answer, failure } from './commands/dispatch.js';
import type { Engine } from './commands/engine.js';
import type { Connection } from './commands/request.js';
import { Framer, MAX_MESSAGE } from './wire/frame.js';
import { type Message, readMessage, type Unreadable, writeReply } from './wire/message.js';

/** Maximum bytes of a message from an unauthenticated client; a greeting takes a tenth of it. */
const MAX_GREETING = 16_384;
/** Messages queued behind the current one before the socket is no longer read. */
const MAX_QUEUED = 64;
/** Same for an unauthenticated client; drivers wait for each answer. */
const MAX_QUEUED_GREETINGS = 4;

export interface ConnectionObserver {
  /** Called when the client has proved that it knows the secret of this start. */
  onTrusted(): void;
  /** Called before each message is processed. */
  onMessage(): void;
}

/** Serves a socket until either side closes it. A malformed message closes it. */
export function serve(engine: Engine, socket: Socket, id: number, { onTrusted, onMessage }: ConnectionObserver): void {
  const connection: Connection = {
    id,
    authenticated: false,
    onTrusted,
    conversation: undefined,
    closed: false,
  };
  const queue: (Message | Unreadable)[] = [];
  const maxQueued = () => (connection.authenticated ? MAX_QUEUED : MAX_QUEUED_GREETINGS);
  let isWorking = false;
  engine.connections++;
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    engine.connections--;
    connection.closed = true;
    queue.length = 0;
    engine.cursors.releaseClient(connection);
  });

  const framer = new Framer(
    (bytes) => {
      onMessage();
      if (socket.destroyed) return;
      const message = readMessage(bytes);
      queue.push(message);
      if (queue.length >= maxQueued()) socket.pause();
      if (!isWorking) processQueue().catch(() => socket.destroy());
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

  async function processQueue(): Promise<void> {
    isWorking = true;
    for (let next = queue.shift(); next; next = queue.shift()) {
      if (queue.length < maxQueued()) socket.resume();
      if ('error' in next) await send({ id: next.id, legacy: false }, failure(next.error));
      else await handle(next);
    }
    isWorking = false;
  }

  async function handle(message: Message): Promise<void> {
    const answered = await answer(engine, message, connection);
    if (!message.silent) await send(message, answered);
  }

  /** Writes an answer; waits while the client does not read. */
  async function send(to: { id: number; legacy: boolean }, { body, ok }: Answer): Promise<void> {
    const reply = writeReply(to, body, engine.clock.tail(ok));
    if (!connection.closed && !socket.write(reply)) await waitForDrain(socket);
  }
}

/** Resolves when the client has read its answers or has disconnected. */
function waitForDrain(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}
