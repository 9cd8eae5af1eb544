/** Listens for a service's requests, and stops without dropping what is under way. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { networkOf } from '../../platform/config/client-address.js';
import { urlOf } from '../../platform/process/format-url.js';
import type { After } from '../../platform/process/timer.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { asRequest, attach, isPutBack } from '../../realtime/websocket/upgrade.js';
import { letPass } from '../hardening/chunk-limit.js';
import { inOrder } from '../hardening/pipelining-limit.js';
import { createRefusal } from '../hardening/protocol-errors.js';
import { watchProgress } from '../hardening/slow-body-timeout.js';
import { boundUnread } from '../hardening/slow-reader-limit.js';
import { type AppDeps, createApp } from './app.js';
import { type Budgets, createBudgets } from './budgets.js';
import type { ServicePolicy } from './policy.js';
import type { Route } from './route.js';

export interface ListenOptions extends Omit<AppDeps, 'budgets'> {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** What it shares with other ports; without, it has budgets of its own. */
  readonly budgets?: Budgets;
}

export interface Listening {
  /** For example `http://127.0.0.1:3004`. */
  readonly url: string;
  readonly port: number;
  /**
   * Stops accepting, tells streams to come back, and resolves once all is answered and every connection closed;
   * what takes longer than 7 s is cut.
   */
  close(): Promise<void>;
}

/** Less than the process has for stopping, so that what comes after can still be done. */
const GRACE_MS = 7_000;

/** What is left of the body that was answered passes unread: the connection is kept for as long as it comes. */
function letRestPass(request: IncomingMessage, after?: After) {
  if (request.complete) return;
  const { socket } = request;
  letPass(request);
  const unwatch = watchProgress(socket, () => socket.destroy(), after);
  request.once('close', unwatch);
  request.once('end', unwatch);
}

/** Rejects if the address is taken or not ours. */
export async function listen(
  policy: ServicePolicy,
  routes: readonly Route[],
  { host, port, budgets = createBudgets(), ...deps }: ListenOptions,
): Promise<Listening> {
  const streams = new Set<Sink>();
  const opened = (sink: Sink) => {
    streams.add(sink);
    sink.onClose(() => streams.delete(sink));
    if (closing) sink.end('resume');
    deps.opened?.(sink);
  };
  const { connections } = deps;
  const respond = createApp(policy, routes, { ...deps, budgets, opened }).callback();
  const sockets = new Set<Socket>();
  /** Those that never asked anything: node does not count them as idle. */
  const silent = new Set<Socket>();
  let closing = false;
  const bounded = boundUnread({
    budget: budgets.unread,
    whose: ({ req: { socket, headers } }) =>
      networkOf(deps.clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString())),
  });
  const take = inOrder((request, response) => {
    silent.delete(request.socket);
    if (isPutBack(request, response)) return readAnew(request.socket);
    attach(request, response);
    // Before the next of its requests begins.
    response.prependOnceListener('close', () => connections?.idle(request.socket));
    if (closing) response.setHeader('Connection', 'close');
    bounded(response);
    // Before node lets it pass by itself, unheard.
    response.once('prefinish', () => letRestPass(request, deps.after));
    void respond(request, response);
  });
  const server = createServer(
    // A client that trickles its header has this long; what becomes of its body is watched as it comes.
    {
      headersTimeout: 15_000,
      requestTimeout: 0,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
      // What lacks a Host gets the answer of our own that every other mistake gets.
      requireHostHeader: false,
    },
    take,
  );
  /** From what was put back on. The pause between two requests is over. */
  function readAnew(socket: Socket) {
    socket.setTimeout(0);
    server.emit('connection', socket);
  }
  server.on('connection', (socket) => {
    if (sockets.has(socket)) return;
    sockets.add(socket);
    silent.add(socket);
    connections?.join(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      silent.delete(socket);
    });
  });
  const refuse = createRefusal(policy);
  // Where nobody listens for upgrades, node takes them for the ordinary requests that they also are.
  if (routes.some(({ socket }) => socket)) server.on('upgrade', asRequest(take));
  server.on('clientError', refuse.broken);
  server.on('connect', (_request, socket) => refuse.tunnel(socket));
  // An expectation we don't know is none of ours to meet: answered as if it were not there.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const bound = server.address() as AddressInfo;
  return {
    url: urlOf(host, bound.port),
    port: bound.port,
    close() {
      closing = true;
      for (const sink of streams) sink.end('resume');
      for (const socket of silent) socket.destroy();
      return new Promise((resolve) => {
        // A connection that turns idle later than now would stay open for its keep-alive time.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        const deadline = setTimeout(() => {
          for (const socket of sockets) socket.destroy();
        }, GRACE_MS);
        server.close(() => {
          clearInterval(sweep);
          clearTimeout(deadline);
          resolve();
        });
      });
    },
  };
}
