/** JSON requests to the page's own service; failures are errors with a message for people. */
import { texts } from '../texts.js';

/** A failed request. */
export class ApiError extends Error {
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** From `Retry-After`. */
  readonly retryAfterSeconds: number | undefined;
  /** Of the service, for example `ROOM_NOT_FOUND`; undefined for what a proxy responds. */
  readonly code: string | undefined;
  constructor(message: string, status?: number, retryAfterSeconds?: number, code?: string) {
    super(message);
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.code = code;
  }
}

/** Text to show for any caught error. */
export const messageOf = (error: unknown): string => (error instanceof ApiError ? error.message : texts.unexpected);

/** Whether a request may succeed when it is sent again: no response, overload, or a store that is away. */
export const isTemporary = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === undefined || error.status === 429 || error.status >= 500);

export interface RequestOptions {
  readonly body?: unknown;
  readonly query?: { readonly [name: string]: string | number | undefined };
  readonly headers?: { readonly [name: string]: string };
  readonly signal?: AbortSignal;
  /** Identifies a command, so that sending it again has no second effect. */
  readonly idempotencyKey?: string;
}

export interface Http {
  /** Resolves with the response of a success; rejects with an `ApiError`, or with the abort. */
  send(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** Like `send`, with the JSON of the response; undefined for 204. */
  json<Answer>(method: string, path: string, options?: RequestOptions): Promise<Answer>;
}

type HeaderFields = { readonly [name: string]: string };

interface HttpOptions {
  /** Called for each request. */
  readonly headers?: () => HeaderFields;
  /**
   * Called for a response with status 401 with the `headers` that were sent; resolves with true if the request should be
   * sent again with new ones.
   */
  readonly onUnauthorized?: (sent: HeaderFields) => Promise<boolean>;
  /** `omit` keeps the browser from asking for a password itself where a service offers basic authentication. */
  readonly credentials?: RequestCredentials;
}

/** Position in the log of the page's last write; later requests name it, so that every node shows what was written. */
let lastWrite = 0n;

function rememberWrite(method: string, { headers }: Response) {
  const position = BigInt(/^\d+$/.exec(headers.get('Position') ?? '')?.[0] ?? 0);
  // The node gave up waiting for the position, which a restored log may not have.
  if (headers.get('Consistency') === 'pending') lastWrite = 0n;
  else if (method !== 'GET' && position > lastWrite) lastWrite = position;
}

export function createHttp({ headers = () => ({}), onUnauthorized, credentials }: HttpOptions = {}): Http {
  async function attempt(
    method: string,
    path: string,
    options: RequestOptions,
    common: HeaderFields,
  ): Promise<Response> {
    const { body, query = {}, signal, idempotencyKey } = options;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.set(name, String(value));
    const search = parameters.size > 0 ? `?${parameters}` : '';
    return fetch(path + search, {
      method,
      headers: {
        ...common,
        ...(lastWrite > 0n && { 'If-Position': String(lastWrite) }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
        ...options.headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
      ...(credentials && { credentials }),
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new ApiError(texts.unreachable);
    });
  }

  async function send(method: string, path: string, options: RequestOptions = {}): Promise<Response> {
    const sent = headers();
    let response = await attempt(method, path, options, sent);
    if (response.status === 401 && onUnauthorized && (await onUnauthorized(sent)))
      response = await attempt(method, path, options, headers());
    if (!response.ok) throw await errorFrom(response);
    rememberWrite(method, response);
    return response;
  }

  return {
    send,
    async json<Answer>(method: string, path: string, options?: RequestOptions) {
      const response = await send(method, path, options);
      return (response.status === 204 ? undefined : await response.json()) as Answer;
    },
  };
}

/** Reads the `error` and `code` members that services send. */
export async function errorFrom(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown };
  const text = typeof error === 'string' ? error : texts.responded(response.status);
  const retryAfter = Number(response.headers.get('Retry-After') ?? Number.NaN);
  const seconds = Number.isFinite(retryAfter) ? retryAfter : undefined;
  return new ApiError(text, response.status, seconds, typeof code === 'string' ? code : undefined);
}
