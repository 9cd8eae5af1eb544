/** Common properties of all routes of a service: name, CORS, headers and error format. */
import type { JsonSchema, Rejection } from '../../../domain/shared/index.js';
import type { Problem } from './problem.js';
import type { FieldError } from './validate.js';

/** The part of a request that guards check: which page sent it, and to which host. */
export interface GuardedRequest {
  readonly method: string;
  readonly headers: { readonly [name: string]: string | undefined };
  readonly localAddress: string | undefined;
}

export type Guard = (request: GuardedRequest) => Problem | undefined;

export interface ServicePolicy {
  /** Name of the service in one word: metric label, log field, part of derived command ids. */
  readonly service: string;
  readonly title: string;
  readonly description?: string;
  readonly version: string;
  readonly cors: Cors;
  /** Runs before everything else, also for preflights. */
  readonly guard?: Guard | undefined;
  /** Sent with every response, also errors. */
  readonly headers?: { readonly [name: string]: string };
  readonly errorBody?: (problem: Problem) => object;
  readonly errorSchema?: JsonSchema;
  /** Maps a rejection to a problem of the service. Default: `fromRejection`. */
  readonly rejected?: (rejection: Rejection) => Problem;
  /** Maps an invalid field to a problem. Default: 400 with `error.message`. */
  readonly invalid?: (error: FieldError) => Problem | undefined;
  /** OpenAPI security schemes by name, for `Route.security`. */
  readonly securitySchemes?: { readonly [name: string]: JsonSchema };
}

/** Returns the headers to add to a response, also for preflights (`OPTIONS`) and errors. */
export type Cors = (request: CorsRequest) => Headers;

type Headers = { readonly [name: string]: string };

export interface CorsRequest {
  readonly origin: string | undefined;
  readonly path: string;
  readonly preflight: boolean;
}

export interface CorsRules {
  /** `*` allows every origin; a listed origin is echoed. */
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly expose?: readonly string[];
  readonly maxAgeSeconds?: number;
}

export const COMMON_REQUEST_HEADERS = [
  'Authorization',
  'Content-Type',
  'Idempotency-Key',
  'If-Position',
  'Last-Event-ID',
  'X-Request-Id',
  'traceparent',
];

/** Response headers that every route may send. Pages can read only exposed headers. */
export const COMMON_ANSWER_HEADERS = ['X-Request-Id', 'Position', 'Consistency', 'Retry-After'];

export const sameOrigin: Cors = () => ({});

export function cors({ origins, methods, headers, expose = [], maxAgeSeconds = 86_400 }: CorsRules): Cors {
  const anyOrigin = origins.includes('*');
  const listed = new Set(origins);
  // The response depends on the origin, which caches must know.
  const always: Headers = anyOrigin ? {} : { Vary: 'Origin' };
  const actual: Headers = {
    ...always,
    ...(expose.length ? { 'Access-Control-Expose-Headers': expose.join(', ') } : {}),
  };
  const preflights: Headers = {
    ...actual,
    'Access-Control-Allow-Methods': methods.join(', '),
    'Access-Control-Allow-Headers': headers.join(', '),
    'Access-Control-Max-Age': String(maxAgeSeconds),
  };
  return ({ origin, preflight }) => {
    const allowed = anyOrigin ? '*' : origin !== undefined && listed.has(origin) ? origin : undefined;
    if (allowed === undefined) return always;
    return { 'Access-Control-Allow-Origin': allowed, ...(preflight ? preflights : actual) };
  };
}
