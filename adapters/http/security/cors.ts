/** Determines the CORS headers of a response by the request's origin and path. */

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

/** Request headers that every route accepts. */
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

/** No CORS headers, for same-origin services. */
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
