/** The HTTP server of a service: accepts connections, runs the koa application of its routes, and shuts down gracefully. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextIteration } from 'node:timers/promises';
import Router from '@koa/router';
import Koa from 'koa';
import { UnavailableError } from '../../../application/ports/index.js';
import type { Span, Tracer } from '../../platform/observability/tracing.js';
import { formatUrl } from '../../platform/process/format-url.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { handleUpgrades } from '../../realtime/websocket/upgrade.js';
import {
  type ConnectionLimit,
  drainBody,
  limitPipelining,
  limitUnreadResponses,
} from '../hardening/connection-limits.js';
import { createProtocolErrorHandlers } from '../hardening/protocol-errors.js';
import { setHeaders, writeAnswer, writeProblem } from './answer.js';
import { type Budgets, createBudgets, overBudgetProblem } from './budgets.js';
import { networkOf } from './client-network.js';
import { type GuardedRequest, type Problem, problem, type ServicePolicy } from './policy.js';
import { findMalformation, hostOf, type RequestDeps, requestIdOf, singleHeaders, traceparentOf } from './request.js';
import type { Route } from './route.js';
import { createEndpoint } from './route-pipeline.js';

export interface AppDeps extends Omit<RequestDeps, 'service'> {
  readonly onResponse?: (response: ResponseRecord) => void;
  readonly connections?: ConnectionLimit | undefined;
  readonly onStreamOpened?: (sink: Sink) => void;
  readonly tracer?: Tracer | undefined;
}

export interface ResponseRecord {
  readonly service: string;
  readonly method: string;
  /** Path of the route, never of the request, which may contain secrets; `(none)` without a route. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

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
/** How long open connections, and new ones before their first request, go on after `close`. */
const DRAIN_MS = 500;
/** Iterations of the event loop before the port closes; Node accepts one connection in each. */
const ACCEPT_ITERATIONS = 32;

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
    if (ending) sink.end('resume');
    deps.onStreamOpened?.(sink);
  };
  const { connections } = deps;
  const respond = createApp(policy, routes, { ...deps, budgets, onStreamOpened }).callback();
  const sockets = new Set<Socket>();
  /** Connections without any request yet, which node does not count as idle. */
  const silent = new Set<Socket>();
  /** Each response asks to close its connection. */
  let closing = false;
  let ending = false;
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
    async close() {
      closing = true;
      const deadline = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, GRACE_MS);
      if (sockets.size > silent.size) await delay(DRAIN_MS);
      ending = true;
      for (const sink of streams) sink.end('resume');
      // Closing the port resets connections that are not accepted yet.
      for (let count = 0; count < ACCEPT_ITERATIONS; count++) await nextIteration();
      await new Promise<void>((resolve) => {
        // Connections that become idle later would stay open for their keep-alive time.
        const sweep = setInterval(() => server.closeIdleConnections(), 50);
        // The request of a new connection may be on its way.
        const firstRequestTimeout = setTimeout(() => {
          for (const socket of silent) socket.destroy();
        }, DRAIN_MS);
        server.close(() => {
          clearInterval(sweep);
          clearTimeout(firstRequestTimeout);
          clearTimeout(deadline);
          resolve();
        });
      });
    },
  };
}

const NOT_FOUND = problem(404, 'Not found');
const INTERNAL = problem(500, 'Internal error');
const UNAVAILABLE = problem(503, 'Temporarily unavailable, try again', { retryAfterMs: 1000 });

interface State {
  requestId: string;
  route: string;
  span?: Span | undefined;
}

export function createApp(policy: ServicePolicy, routes: readonly Route[], deps: AppDeps): Koa<State> {
  const { service } = policy;
  const { logger } = deps;
  const app = new Koa<State>();
  // koa itself only reports connections that break during a response.
  app.on('error', (err) => logger.debug({ err, service }, 'connection broke'));
  app.use(handleAny);
  app.use(createRouter(policy, routes, deps).routes());
  app.use((ctx) => writeProblem(ctx, noRoute(ctx), policy));
  return app;

  async function handleAny(ctx: Ctx, next: () => Promise<unknown>) {
    const started = performance.now();
    const requestId = requestIdOf(ctx.req.headers['x-request-id']?.toString());
    ctx.state.requestId = requestId;
    ctx.state.route = '(none)';
    const preflight = ctx.method === 'OPTIONS';
    const tooManyConnections = markBusy(ctx.req.socket);
    const malformation = findMalformation(ctx);
    const host = hostOf(ctx.req);
    if (host !== undefined) ctx.req.headers.host = host;
    const guardProblem = malformation ? undefined : policy.guard?.(guardedRequest(ctx));
    const rejection = malformation ?? guardProblem ?? tooManyConnections;
    // Prevents koa from throwing on an invalid target.
    if (rejection) ctx.req.url = '/';
    ctx.res.setHeader('X-Request-Id', requestId);
    if (policy.headers) setHeaders(ctx, policy.headers);
    // Pages of origins that the guard rejects cannot read the response.
    if (!guardProblem) setHeaders(ctx, policy.cors({ origin: ctx.req.headers.origin, path: ctx.path, preflight }));
    try {
      if (rejection) writeProblem(ctx, rejection, policy);
      else if (preflight) ctx.status = 204;
      else if (hasInvalidEscape(ctx.path)) writeProblem(ctx, NOT_FOUND, policy);
      else await next();
    } catch (error) {
      handleError(ctx, error);
    }
    const { method, status } = ctx;
    const { route } = ctx.state;
    const ms = Math.round((performance.now() - started) * 10) / 10;
    deps.onResponse?.({ service, method, route, status, ms });
    ctx.state.span?.end({ 'http.response.status_code': status }, status >= 500 ? `status ${status}` : undefined);
    const fields = { service, method, route, status, ms, requestId };
    if (status < 400) logger.debug(fields, 'answered');
    else logger.info(fields, 'answered');
  }

  function markBusy(socket: Socket): Problem | undefined {
    const shortage = deps.connections?.busy(socket);
    return shortage && { ...overBudgetProblem(shortage), headers: { Connection: 'close' } };
  }

  function handleError(ctx: Ctx, error: unknown) {
    const { requestId, route } = ctx.state;
    const isUnavailable = error instanceof UnavailableError;
    const fields = { err: error, service, method: ctx.method, route, requestId };
    if (isUnavailable) logger.warn(fields, 'a request failed because a store is unavailable');
    else logger.error(fields, 'a request failed');
    if (ctx.res.headersSent) ctx.res.destroy();
    else writeProblem(ctx, isUnavailable ? UNAVAILABLE : INTERNAL, policy);
  }
}

type Ctx = Koa.ParameterizedContext<State>;

function createRouter(policy: ServicePolicy, routes: readonly Route[], deps: AppDeps): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const route of routes) {
    const endpoint = createEndpoint(route, policy, { ...deps, service: policy.service });
    router.register(route.path, [route.method], async (ctx) => {
      ctx.state.route = route.path;
      if (deps.tracer) ctx.state.span = startSpan(ctx, route, deps.tracer, policy.service);
      writeAnswer(ctx, await endpoint(ctx, ctx.params, ctx.state.requestId), policy, deps.onStreamOpened);
    });
  }
  return router;
}

/** Continues the trace of the caller, if it has one; what the request does continues that of the request. */
function startSpan({ req: { headers } }: Ctx, { method, path }: Route, tracer: Tracer, service: string): Span {
  const attributes = { service, 'http.request.method': method, 'http.route': path };
  const parent = traceparentOf(singleHeaders(headers).traceparent);
  const span = tracer.start(`${method} ${path}`, parent, attributes, 'server');
  headers.traceparent = span.traceparent;
  return span;
}

function noRoute(ctx: Ctx & { matched?: readonly { methods: readonly string[] }[] }): Problem {
  const methods = new Set(ctx.matched?.flatMap((layer) => layer.methods));
  if (methods.size === 0) return NOT_FOUND;
  const allow = [...methods, 'OPTIONS'].join(', ');
  return problem(405, `${ctx.method} is not allowed here`, { headers: { Allow: allow } });
}

const guardedRequest = ({ method, req: { headers, socket } }: Ctx): GuardedRequest => ({
  method,
  headers: singleHeaders(headers),
  localAddress: socket.localAddress,
});

/** Whether the path has an invalid percent escape, which matches no route. */
function hasInvalidEscape(path: string): boolean {
  if (!path.includes('%')) return false;
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}
