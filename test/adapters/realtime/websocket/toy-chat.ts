/** A toy service over one WebSocket that broadcasts messages within a room. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ListenOptions } from '../../../../adapters/http/server/http-server.js';
import { problem, type ServicePolicy } from '../../../../adapters/http/server/policy.js';
import { type Route, route } from '../../../../adapters/http/server/route.js';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { frame } from '../../../../adapters/realtime/relay/sink.js';
import type { Message, MessageError, MessageOf } from '../../../../adapters/realtime/websocket/client-messages.js';
import type { SessionControl, SessionHandler } from '../../../../adapters/realtime/websocket/session.js';
import { serveToys, type Toys } from '../../../http/toy-http-service.js';

export const PER_SECOND = 5;

const clientMessages = {
  say: {
    type: 'object',
    required: ['text'],
    properties: { text: { type: 'string', minLength: 1 }, to: { type: 'string' } },
  },
  leave: { type: 'object', properties: {} },
} as const;
const serverMessages = {
  received: { type: 'object', properties: { text: { type: 'string' } } },
  sorry: { type: 'object', properties: { why: { type: 'string' } } },
};

export interface Talk extends Toys {
  /** Messages the service received, in order. */
  readonly received: readonly Message[];
  readonly misunderstood: readonly MessageError[];
  readonly left: readonly string[];
  /** Close codes of departed clients. */
  readonly codes: readonly number[];
  readonly speakers: readonly SessionControl[];
  open(room?: string, options?: ConstructorParameters<typeof WebSocket>[2]): Promise<Talker>;
}

export interface TalkOptions extends Partial<ListenOptions> {
  /** Work on a message before it is broadcast. */
  readonly meanwhile?: (message: Message) => Promise<void> | void;
  /** Work when a session begins. */
  readonly begun?: () => void;
  readonly perSecond?: number;
  readonly policy?: Partial<ServicePolicy>;
}

/** Served on a free port; closed by the caller. */
export async function serveTalk({
  meanwhile = () => {},
  begun = () => {},
  perSecond = 1_000_000,
  policy,
  ...options
}: TalkOptions = {}): Promise<Talk> {
  const received: Message[] = [];
  const misunderstood: MessageError[] = [];
  const left: string[] = [];
  const codes: number[] = [];
  const speakers: SessionControl[] = [];
  const relay = createRelay({
    audience: { initialState: undefined, on: {} },
    head: async () => 0n,
  });
  const talk = route({
    method: 'GET',
    path: '/talk/:room',
    summary: 'Talk',
    socket: { clientMessages, serverMessages, perSecond },
    answers: { 401: { description: 'Strangers may not' } },
    admit: ({ params, headers }) => (headers['x-stranger'] ? problem(401, 'Strangers may not') : params.room),
    handle: (_, room) => ({
      converse(speaker): SessionHandler {
        begun();
        speakers.push(speaker);
        relay.connect({ keys: [room] }, speaker.sink);
        return {
          onMessage(message: MessageOf<typeof clientMessages>) {
            received.push(message);
            const done = meanwhile(message);
            const to = 'to' in message ? message.to : undefined;
            const broadcast = () => void relay.sendEphemeral([to ?? room], frame({ ...message, type: 'said' }));
            return done ? done.then(broadcast) : broadcast();
          },
          misunderstood(why) {
            misunderstood.push(why);
            speaker.sink.send({ json: JSON.stringify({ type: 'sorry', why: why.why }) });
          },
          onClose(code) {
            left.push(room);
            codes.push(code);
          },
        };
      },
    }),
  });
  const plain: Route = {
    method: 'GET',
    path: '/plain',
    summary: 'Plain',
    answers: { 200: { description: 'It' } },
    handle: () => ({ status: 200, body: { plain: true } }),
  };
  const post: Route = {
    ...plain,
    method: 'POST',
    path: '/post',
    body: { type: 'object' } as const,
    handle: ({ body }) => ({ status: 200, body: body as object }),
  };
  const toys = await serveToys([talk, plain, post], policy, options);
  return {
    ...toys,
    received,
    misunderstood,
    left,
    codes,
    speakers,
    async open(room = 'a', options) {
      const talker = talkerOf(new WebSocket(`${toys.url.replace('http', 'ws')}/talk/${room}`, [], options));
      await once(talker.socket, 'open');
      return talker;
    },
    async close() {
      relay.close();
      await toys.close();
    },
  };
}

export interface Talker {
  readonly socket: WebSocket;
  /** Messages the client received, in order. */
  readonly received: readonly Message[];
  say(text: string, more?: object): void;
  /** The code and reason of the close. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
}

export function talkerOf(socket: WebSocket): Talker {
  const received: Message[] = [];
  socket.on('message', (data) => received.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  return {
    socket,
    received,
    say: (text, more) => socket.send(JSON.stringify({ type: 'say', text, ...more })),
    closed: new Promise((resolve) => {
      socket.once('close', (code, reason) => resolve({ code, reason: String(reason) }));
    }),
  };
}
