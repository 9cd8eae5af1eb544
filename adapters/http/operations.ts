/** The operations port: health, metrics and projections, for this machine or whoever has the token. */
import { hash, timingSafeEqual } from 'node:crypto';
import { isLoopback } from '../platform/config/client-address.js';
import type { Metrics } from '../platform/observability/metrics.js';
import { sameOrigin } from './security/cors.js';
import { namesThisMachine } from './security/host-guard.js';
import { openapiRoute } from './server/openapi.js';
import type { ServicePolicy } from './server/policy.js';
import { type Problem, problem } from './server/problem.js';
import type { Request, Route } from './server/route.js';

/** What the operations port tells; `bin` connects it. */
export interface Status {
  /** Whether the process can do its work just now, and why not. */
  ready(): Promise<{ readonly ok: boolean; readonly checks: readonly Check[] }>;
  projections(): Promise<readonly ProjectionStatus[]>;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
}

export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly collection: string;
  readonly position?: bigint;
  /** Distance from the head of the log, in positions. */
  readonly lag?: bigint;
  /** The node whose projector it is now. */
  readonly owner?: string;
  readonly status: string;
}

export const operationsPolicy = (version: string): ServicePolicy => ({
  service: 'operations',
  title: 'Annals operations',
  version,
  cors: sameOrigin,
  headers: { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' },
  securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'operations.token' } },
});

export interface OperationsAccess {
  /** What the port listens on. */
  readonly host: string;
  /** Who sends it is let in; without one only callers on this machine are. */
  readonly token?: string | undefined;
}

/** For the start-up output. */
export const operationsSignIn = ({ token }: OperationsAccess): string =>
  token === undefined
    ? 'from this machine only; operations.token would let others in'
    : 'from this machine, or with operations.token as a bearer token';

export function operationsRoutes(
  policy: ServicePolicy,
  status: Status,
  metrics: Metrics,
  access: OperationsAccess,
): readonly Route[] {
  const admit = admitWith(access);
  const routes: readonly Route[] = [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Whether the process runs',
      answers: { 200: { description: 'It does', schema: { type: 'object' } } },
      handle: () => ({ status: 200, body: { ok: true, uptimeSec: Math.floor(process.uptime()) } }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Whether the process can do its work',
      answers: {
        200: { description: 'It can', schema: { type: 'object' } },
        503: { description: 'It cannot; the checks say why', schema: { type: 'object' } },
      },
      async handle() {
        const { ok, checks } = await status.ready();
        return ok
          ? { status: 200, body: { ok, checks } }
          : problem(503, 'Not ready', { retryAfterMs: AGAIN_MS, extra: { ok, checks } });
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      summary: 'Metrics in the format of Prometheus',
      answers: { 200: { description: 'All metrics', type: 'text/plain' } },
      async handle() {
        // With the database away the other metrics matter all the more.
        const projections = await status.projections().catch(() => []);
        for (const { name, ...progress } of projections) metrics.projection(name, progress);
        return { status: 200, text: await metrics.text(), headers: { 'Content-Type': metrics.contentType } };
      },
    },
    {
      method: 'GET',
      path: '/projections',
      summary: 'How far every read model is, and who keeps it up',
      answers: { 200: { description: 'One entry per read model', schema: { type: 'object' } } },
      async handle() {
        const projections = (await status.projections()).map(({ position, lag, ...rest }) => ({
          ...rest,
          // Positions are 64 bits wide, more than a JSON number is to every reader.
          ...(position === undefined ? {} : { position: String(position) }),
          ...(lag === undefined ? {} : { lag: String(lag) }),
        }));
        return { status: 200, body: { projections } };
      },
    },
  ];
  const guard = (route: Route): Route => ({
    ...route,
    security: 'token',
    admit,
    answers: { ...route.answers, 403: { description: 'The port is not known under that Host' } },
  });
  const guarded = routes.map(guard);
  return [...guarded, openapiRoute(policy, guarded, guard)];
}

/** When to ask again whether it is ready. */
const AGAIN_MS = 1000;

const DENIED = problem(401, 'Unauthorized', { headers: { 'WWW-Authenticate': 'Bearer' } });

/** A page on the web whose name is made to point here is still not a caller on this machine. */
const FOREIGN_HOST = problem(403, 'The operations port is not known under that host name');

function admitWith({ host, token }: OperationsAccess) {
  const expected = token === undefined ? undefined : digest(token);
  return ({ bearer, address, headers }: Request): undefined | Problem => {
    if (expected && bearer !== undefined && timingSafeEqual(digest(bearer), expected)) return undefined;
    const forwarded = headers['x-forwarded-for'] ?? headers.forwarded;
    if (!isLoopback(address) || forwarded !== undefined) return DENIED;
    return namesThisMachine(headers.host, host) ? undefined : FOREIGN_HOST;
  };
}

const digest = (token: string) => hash('sha256', token, 'buffer');
