/** A koa application from a service's policy and routes: what every request of every service goes through. */
import type { Socket } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { UnavailableError } from '../../../application/ports/index.js';
import type { Sink } from '../../realtime/relay/sink.js';
import type { ConnectionLimit } from '../hardening/connection-limit.js';
import { hostOf, malformed } from '../hardening/malformed-request.js';
import { requestIdOf } from '../security/headers.js';
import { setHeaders, writeAnswer, writeProblem } from './answer.js';
import { overBudget } from './budgets.js';
import type { Addressed, ServicePolicy } from './policy.js';
import { type Problem, problem } from './problem.js';
import { type RequestDeps, singleHeaders } from './request.js';
import type { Route } from './route.js';
import { createEndpoint } from './route-pipeline.js';

export interface AppDeps extends Omit<RequestDeps, 'service'> {
  /** Told of every answer: the route's path (never the request's), and how long it took. */
  readonly answered?: (answered: Answered) => void;
  /** Counts connections with those of other ports; without one they are as many as the system allows. */
  readonly connections?: ConnectionLimit | undefined;
  /** Told of every event stream that begins. */
  readonly opened?: (sink: Sink) => void;
}

export interface Answered {
  readonly service: string;
  readonly method: string;
  /** The route's path, `(none)` where no route was found. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

const NOT_FOUND = problem(404, 'Not found');
const INTERNAL = problem(500, 'Internal error');
const UNAVAILABLE = problem(503, 'Temporarily unavailable, try again', { retryAfterMs: 1000 });

interface State {
  requestId: string;
  route: string;
}

export function createApp(policy: ServicePolicy, routes: readonly Route[], deps: AppDeps): Koa<State> {
  const { service } = policy;
  const { logger } = deps;
  const app = new Koa<State>();
  // What koa reports by itself are connections that broke while an answer was on its way.
  app.on('error', (err) => logger.debug({ err, service }, 'connection broke'));
  app.use(outermost);
  app.use(createRouter(policy, routes, deps).routes());
  app.use((ctx) => writeProblem(ctx, unrouted(ctx), policy));
  return app;

  async function outermost(ctx: Ctx, next: () => Promise<unknown>) {
    const started = performance.now();
    const requestId = requestIdOf(ctx.req.headers['x-request-id']?.toString());
    ctx.state.requestId = requestId;
    ctx.state.route = '(none)';
    const preflight = ctx.method === 'OPTIONS';
    const crowded = tooMany(ctx.req.socket);
    const unreadable = malformed(ctx);
    const host = hostOf(ctx.req);
    if (host !== undefined) ctx.req.headers.host = host;
    const foreign = unreadable ? undefined : policy.guard?.(addressed(ctx));
    const refused = unreadable ?? foreign ?? crowded;
    // Nothing may read a target that can't be read.
    if (refused) ctx.req.url = '/';
    ctx.res.setHeader('X-Request-Id', requestId);
    if (policy.headers) setHeaders(ctx, policy.headers);
    // Whose pages may not call may not read either that they may not.
    if (!foreign) setHeaders(ctx, policy.cors({ origin: ctx.req.headers.origin, path: ctx.path, preflight }));
    try {
      if (refused) writeProblem(ctx, refused, policy);
      else if (preflight) ctx.status = 204;
      else if (isUndecodable(ctx.path)) writeProblem(ctx, NOT_FOUND, policy);
      else await next();
    } catch (error) {
      fail(ctx, error);
    }
    const { method, status } = ctx;
    const { route } = ctx.state;
    const ms = Math.round((performance.now() - started) * 10) / 10;
    deps.answered?.({ service, method, route, status, ms });
    const fields = { service, method, route, status, ms, requestId };
    if (status < 400) logger.debug(fields, 'answered');
    else logger.info(fields, 'answered');
  }

  function tooMany(socket: Socket): Problem | undefined {
    const lack = deps.connections?.busy(socket);
    return lack && { ...overBudget(lack), headers: { Connection: 'close' } };
  }

  function fail(ctx: Ctx, error: unknown) {
    const { requestId, route } = ctx.state;
    const away = error instanceof UnavailableError;
    const fields = { err: error, service, method: ctx.method, route, requestId };
    if (away) logger.warn(fields, 'could not answer now');
    else logger.error(fields, 'a request failed');
    if (ctx.res.headersSent) ctx.res.destroy();
    else writeProblem(ctx, away ? UNAVAILABLE : INTERNAL, policy);
  }
}

type Ctx = Koa.ParameterizedContext<State>;

function createRouter(policy: ServicePolicy, routes: readonly Route[], deps: AppDeps): Router<State> {
  const router = new Router<State>({ sensitive: true, strict: true });
  for (const route of routes) {
    const endpoint = createEndpoint(route, policy, { ...deps, service: policy.service });
    router.register(route.path, [route.method], async (ctx) => {
      ctx.state.route = route.path;
      writeAnswer(ctx, await endpoint(ctx, ctx.params, ctx.state.requestId), policy, deps.opened);
    });
  }
  return router;
}

/** The router leaves what it could match, if only the path. */
function unrouted(ctx: Ctx & { matched?: readonly { methods: readonly string[] }[] }): Problem {
  const methods = new Set(ctx.matched?.flatMap((layer) => layer.methods));
  if (methods.size === 0) return NOT_FOUND;
  const allow = [...methods, 'OPTIONS'].join(', ');
  return problem(405, `${ctx.method} is not possible here`, { headers: { Allow: allow } });
}

const addressed = ({ method, req: { headers, socket } }: Ctx): Addressed => ({
  method,
  headers: singleHeaders(headers),
  localAddress: socket.localAddress,
});

/** A path with a broken percent escape is nobody's. */
function isUndecodable(path: string): boolean {
  if (!path.includes('%')) return false;
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
}
