/** Common properties of all routes of a service (name, CORS, headers), and error responses as values, which it formats. */
import type { JsonSchema, Rejection, RejectionKind } from '../../../domain/shared/index.js';
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

/** Headers of responses that must not be stored, and whose address other sites must not learn. */
export const PRIVATE_HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

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

export interface Problem {
  readonly problem: number;
  /** Sentence for people. Never an internal message, a stack, a stream name or a query. */
  readonly error: string;
  /** Stable code for programs, if the service has codes. */
  readonly code?: string;
  readonly retryAfterMs?: number | undefined;
  readonly headers?: { readonly [name: string]: string } | undefined;
  readonly extra?: object;
}

export const problem = (status: number, error: string, more: Omit<Problem, 'problem' | 'error'> = {}): Problem => ({
  problem: status,
  error,
  ...more,
});

export const isProblem = (answer: unknown): answer is Problem =>
  typeof answer === 'object' && answer !== null && 'problem' in answer;

export const TOO_SLOW = 'The request took too long to arrive';

const RESPONSES: { readonly [kind in RejectionKind]: readonly [status: number, sentence: string] } = {
  invalid: [400, 'The request is invalid'],
  'too-large': [413, 'The request is too large'],
  unauthenticated: [401, 'Unauthorized'],
  forbidden: [403, 'Forbidden'],
  'not-found': [404, 'Not found'],
  conflict: [409, 'Conflict'],
  gone: [410, 'Gone'],
  'misused-key': [422, 'The Idempotency-Key was used before with another request'],
  limit: [429, 'Too many requests'],
  unavailable: [503, 'Temporarily unavailable, try again'],
};

export function fromRejection({ kind, detail, retryAfterMs }: Rejection): Problem {
  const [status, sentence] = RESPONSES[kind];
  return problem(status, detail ?? sentence, {
    retryAfterMs: kind === 'limit' ? (retryAfterMs ?? 1000) : retryAfterMs,
    headers: kind === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : undefined,
  });
}
