/** The HTTP server of a service, with graceful shutdown. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { formatUrl } from '../../platform/process/format-url.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { handleUpgrades } from '../../realtime/websocket/upgrade.js';
import { drainBody, limitPipelining, limitUnreadResponses } from '../hardening/connection-limits.js';
import { createProtocolErrorHandlers } from '../hardening/malformed-requests.js';
import { type AppDeps, createApp } from './app.js';
import { type Budgets, createBudgets } from './budgets.js';
import { networkOf } from './client-network.js';
import type { ServicePolicy } from './policy.js';
import type { Route } from './route.js';

export interface ListenOptions extends Omit<AppDeps, 'budgets'> {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly budgets?: Budgets;
}

export interface Listening {
  readonly url: string;
  readonly port: number;
  /** Asks streams to reconnect; resolves when all connections are closed, at the latest after 7 s. */
  close(): Promise<void>;
}

/** Less than the shutdown time of the process, to leave time for later steps. */
const GRACE_MS = 7_000;

/** Starts listening. Rejects if the address is in use or not of this machine. */
export async function listen(
  policy: ServicePolicy,
  routes: readonly Route[],
  { host, port, budgets = createBudgets(), ...deps }: ListenOptions,
): Promise<Listening> {
  const streams = new Set<Sink>();
  const onStreamOpened = (sink: Sink) => {
    streams.add(sink);
    sink.onClose(() => streams.delete(sink));
    if (closing) sink.end('resume');
    deps.onStreamOpened?.(sink);
  };
  const { connections } = deps;
  const respond = createApp(policy, routes, { ...deps, budgets, onStreamOpened }).callback();
  const sockets = new Set<Socket>();
  /** Connections without any request yet, which node does not count as idle. */
  const silent = new Set<Socket>();
  let closing = false;
  const limitUnread = limitUnreadResponses({
    budget: budgets.unread,
    networkOf: ({ req: { socket, headers } }) =>
      networkOf(deps.clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString())),
  });
  const inOrder = limitPipelining();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    silent.delete(request.socket);
    // Runs before the next request of the connection starts.
    response.prependOnceListener('close', () => connections?.idle(request.socket));
    if (closing) response.setHeader('Connection', 'close');
    limitUnread(response);
    // Before node itself drains the body, without limits.
    response.once('prefinish', () => drainBody(request, deps.after));
    void respond(request, response);
  };
  const server = createServer(
    // Bodies have no fixed deadline; their progress is watched instead.
    {
      headersTimeout: 15_000,
      requestTimeout: 0,
      keepAliveTimeout: 30_000,
      connectionsCheckingInterval: 5_000,
      // A missing Host is answered like every other malformed request.
      requireHostHeader: false,
    },
    (request, response) => inOrder(request, response, () => onRequest(request, response)),
  );
  const resume = (socket: Socket) => {
    // Without the timeout between requests.
    socket.setTimeout(0);
    server.emit('connection', socket);
  };
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
  const protocolErrors = createProtocolErrorHandlers(policy);
  // Without an upgrade listener, node treats upgrades as ordinary requests.
  if (routes.some(({ socket }) => socket)) server.on('upgrade', handleUpgrades(inOrder, onRequest, resume));
  server.on('clientError', protocolErrors.clientError);
  server.on('connect', (_request, socket) => protocolErrors.connect(socket));
  // Ignores unknown expectations.
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
    url: formatUrl(host, bound.port),
    port: bound.port,
    close() {
      closing = true;
      for (const sink of streams) sink.end('resume');
      for (const socket of silent) socket.destroy();
      return new Promise((resolve) => {
        // Connections that become idle later would stay open for their keep-alive time.
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
