/** The part of a WebSocket that a session uses, controlled by the test. */
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { silentLogger } from '@annals/engines/testing/engines.js';
import type { WebSocket } from 'ws';
import type { Message, MessageError } from '../../../../adapters/realtime/websocket/client-messages.js';
import { runSession, type SessionOptions } from '../../../../adapters/realtime/websocket/session.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';

export class Line extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  isPaused = false;
  /** How the session has closed it. */
  closed: number | 'cut' | undefined;
  pings = 0;
  pause() {
    this.isPaused = true;
  }
  resume() {
    this.isPaused = false;
  }
  ping() {
    this.pings++;
  }
  close(code: number) {
    this.closed ??= code;
  }
  terminate() {
    this.closed ??= 'cut';
  }
  /** The client sends text. */
  say(text: string) {
    this.emit('message', Buffer.from(text), false);
  }
}

/** Runs a session over a fake socket; `said` is what the service does with a message. */
export function converseOver(
  line: Line,
  onMessage: (message: Message) => Promise<void> | void,
  more: Partial<SessionOptions> = {},
) {
  const misunderstood: MessageError[] = [];
  const state = { misunderstood, left: 0, close: (_code: number) => {} };
  const options: SessionOptions = {
    read: (text) => (text ? { message: { type: 'say', text } } : { why: 'unreadable' }),
    place: createBudget('places', 100).reserve(),
    bytes: createBudget('bytes', 2 ** 30).reserve(),
    perSecond: 1000,
    logger: silentLogger,
    after: () => () => {},
    ...more,
  };
  const begin = (close: (code: number) => void) => {
    state.close = close;
    return {
      onMessage,
      misunderstood: (why: MessageError) => void misunderstood.push(why),
      onClose: () => void state.left++,
    };
  };
  runSession(line as unknown as WebSocket, new PassThrough(), begin, options);
  return state;
}
