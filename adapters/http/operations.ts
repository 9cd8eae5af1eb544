/** Routes of the operations port: health, metrics and projections, for this machine or with a token. */
import type { Metrics } from '../platform/observability/metrics.js';
import { equalsSecret } from './hardening/constant-time.js';
import { isLocalHost, isProxied, isSameOrigin } from './hardening/cross-site-guard.js';
import type { NodeStatus } from './node-status.js';
import { isLoopback } from './server/client-network.js';
import { openapiRoute } from './server/openapi.js';
import { type Problem, problem, type ServicePolicy, sameOrigin } from './server/policy.js';
import type { Request, Route } from './server/route.js';

export const operationsPolicy = (version: string): ServicePolicy => ({
  service: 'operations',
  title: 'Annals operations',
  version,
  cors: sameOrigin,
  headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'operations.token' } },
});

export interface OperationsAccess {
  readonly host: string;
  /** Bearer token for callers on other machines; without it only this machine has access. */
  readonly token?: string | undefined;
}

export const operationsSignIn = ({ token }: OperationsAccess): string =>
  token === undefined
    ? 'this machine only (set operations.token to allow others)'
    : 'this machine, or operations.token as bearer token';

/**
 * @param more Routes with the same access.
 * @param open Routes for everybody.
 */
export function operationsRoutes(
  policy: ServicePolicy,
  status: NodeStatus,
  metrics: Metrics,
  access: OperationsAccess,
  more: readonly Route[] = [],
  open: readonly Route[] = [],
): readonly Route[] {
  const admit = admitWith(access);
  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Liveness of the process',
      answers: { 200: { description: 'The process is running', schema: { type: 'object' } } },
      handle: () => ({ status: 200, body: { ok: true, uptimeSec: Math.floor(process.uptime()) } }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Readiness of the process',
      answers: {
        200: { description: 'Ready', schema: { type: 'object' } },
        503: { description: 'Not ready; the failed checks say why', schema: { type: 'object' } },
      },
      async handle() {
        const { ok, checks } = await status.ready();
        return ok
          ? { status: 200, body: { ok, checks } }
          : problem(503, 'Not ready', { retryAfterMs: RETRY_MS, extra: { ok, checks } });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the Prometheus format',
      answers: { 200: { description: 'All metrics', type: 'text/plain' } },
      async handle() {
        // The other metrics are most needed when the database is unavailable.
        const projections = await status.projections().catch(() => []);
        for (const { name, ...progress } of projections) metrics.projection(name, progress);
        return { status: 200, text: await metrics.text(), headers: { 'Content-Type': metrics.contentType } };
      },
    },
    {
      method: 'GET',
      path: '/projections',
      summary: 'Position, lag and owner of every read model',
      answers: { 200: { description: 'One entry per read model', schema: { type: 'object' } } },
      async handle() {
        const projections = (await status.projections()).map(({ position, lag, ...rest }) => ({
          ...rest,
          // Positions have 64 bits, which JSON numbers lose in many clients.
          position: position?.toString(),
          lag: lag?.toString(),
        }));
        return { status: 200, body: { projections } };
      },
    },
    ...more,
  ];
  const guard = (route: Route): Route => ({
    ...route,
    security: 'token',
    admit,
    answers: {
      ...route.answers,
      403: { description: 'The Host header does not name this port, or a page of another origin asks' },
    },
  });
  const served = [...open, ...routes.map(guard)];
  return [...served, openapiRoute(policy, served, guard)];
}

const RETRY_MS = 1000;

const DENIED = problem(401, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });

/** Prevents DNS rebinding by web pages under a name that resolves to this machine. */
const FOREIGN_HOST = problem(403, 'The Host header does not name this machine');

/** Browsers send commands of any page, and name the page's origin with them. */
const FOREIGN_ORIGIN = problem(403, 'Pages of other origins may not call this port');

function admitWith({ host, token }: OperationsAccess) {
  const isToken = equalsSecret(token);
  return ({ bearer, address, headers }: Request): undefined | Problem => {
    if (bearer !== undefined && isToken(bearer)) return undefined;
    if (!isLoopback(address) || isProxied(headers)) return DENIED;
    if (!isLocalHost(headers.host, host)) return FOREIGN_HOST;
    return headers.origin === undefined || isSameOrigin(headers, undefined) ? undefined : FOREIGN_ORIGIN;
  };
}
