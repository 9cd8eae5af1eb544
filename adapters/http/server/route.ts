/** Defines a route: input, responses and access. The OpenAPI document is generated from the same definition. */
import type { Budget } from '../../../application/concurrency/index.js';
import type { CommandContext, Logger, Position } from '../../../application/ports/index.js';
import type { IncomingBlob, Receiving } from '../../../application/secrets/index.js';
import type { DataOf, JsonSchema, Rejection } from '../../../domain/shared/index.js';
import type { MessageSchemas } from '../../realtime/websocket/client-messages.js';
import type { Answer, LongRunning } from './answer.js';
import type { RouteQuota } from './client-network.js';
import type { Problem } from './policy.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Parameters of a path: `/rooms/:roomId/state` has `roomId`. */
export type ParamsOf<Path extends string> = string extends Path ? Params : { readonly [name in NamesIn<Path>]: string };

type Params = { readonly [name: string]: string };

type NamesIn<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<`/${More}`>
    : Rest
  : never;

type BodyOf<Body> = Body extends 'bytes' ? Buffer : DataOf<Body>;

type MaybePromise<T> = Promise<T> | T;

export type Admit<Caller, Input = Request> = (request: Input) => MaybePromise<Caller | Problem | Rejection>;

export type Route = RouteOf<string, JsonSchema | 'bytes' | undefined, JsonSchema | undefined, unknown>;

/**
 * Defines a route with typed functions: parameters from the path, body and query from their schemas (inline, or `as
 * const`), the caller from `admit`, which must therefore precede its users.
 */
export const route = <
  const Path extends string,
  const Body extends JsonSchema | 'bytes' | undefined = undefined,
  const Query extends JsonSchema | undefined = undefined,
  Caller = undefined,
>(
  definition: RouteOf<Path, Body, Query, Caller>,
): Route => definition as unknown as Route;

/** For load balancers. */
export const healthRoute = route({
  method: 'GET',
  path: '/health',
  summary: 'Health check',
  answers: { 200: { description: 'OK', type: 'text/plain' } },
  handle: () => ({ status: 200, text: 'OK' }),
});

export interface RouteOf<Path extends string, Body, Query, Caller> {
  readonly method: Method;
  /** Exact and case-sensitive, for example `/rooms/:roomId/state`. `GET` includes `HEAD`. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Alternative security schemes of the policy. For the document; access is checked by `admit`. */
  readonly security?: string | readonly string[];
  /** Object schema; values are converted from text to its types. */
  readonly query?: Query;
  /** A schema: JSON, from which members not in the schema are dropped. Or `bytes`, without gzip. */
  readonly body?: Body;
  /** Keeps members not in the schema unless it rejects them: for schemas with alternatives, and to reject unknown members. */
  readonly strictBody?: boolean;
  /** Accepts JSON with any content type (beacons send text). Otherwise types other than JSON are answered 415. */
  readonly anyContentType?: boolean;
  /** Usual content types of `bytes`, for the document. Others are accepted as well. */
  readonly bodyTypes?: readonly string[];
  /** Example bodies by content type, for the document. Examples generated from a schema are unrealistic. */
  readonly examples?: { readonly [type: string]: unknown };
  /** Maximum bytes, decompressed. Default 64 KiB; more is answered 413. */
  readonly bodyLimit?: number;
  /** Separate budget for large bodies, held until the request ends; answered 429 when used up. */
  readonly budget?: Budget;
  /** Distinguishes callers of one network in the shares of a body budget. */
  readonly callerKey?: (caller: Caller) => string;
  /** Members of `body` streamed to storage. The route's `budget` then counts concurrent bodies. */
  readonly uploads?: Uploads;
  /** Deadline of admission and handler together in ms, default 8 s. */
  readonly answerMs?: number;
  /** Makes the route a WebSocket; the handler then returns `Conversing`. */
  readonly socket?: SocketSpec;
  /** Responses by status. Errors that every route can answer are added. */
  readonly answers: { readonly [status: number]: AnswerDoc };
  /** Identifies the caller. Runs before the body is read, and again after a body that had not arrived yet. Has no side effects. */
  readonly admit?: Admit<Caller, Request<unknown, { readonly [name: string]: unknown }, ParamsOf<Path>>>;
  /**
   * For commands that end the access of their caller: when `admit` rejects a request with an `Idempotency-Key`, returns
   * the response of its first run, if any. Has no side effects, and finds only commands of the same caller.
   */
  readonly previousAnswer?: (
    request: Request<BodyOf<Body>, DataOf<Query>, ParamsOf<Path>>,
  ) => Promise<Answer | undefined>;
  /** Rate limit. Commands count through their `context`, on their first run only. */
  readonly quota?: RouteQuota;
  readonly handle: (
    request: Request<BodyOf<Body>, DataOf<Query>, ParamsOf<Path>>,
    caller: Caller,
  ) => MaybePromise<Answer | LongRunning>;
}

/** Large base64 members of a JSON body: empty strings in `Request.body`, their content is in `Request.received`. */
export interface Uploads {
  /** Maximum decoded bytes by name. Longer content and invalid base64 are answered 400. */
  readonly members: { readonly [name: string]: number };
  receive(): Promise<Receiving>;
}

export type ReceivedBlobs = ReadonlyMap<string, IncomingBlob>;

/** The messages of a WebSocket in both directions; closed lists. */
export interface SocketSpec {
  readonly clientMessages: MessageSchemas;
  readonly serverMessages: MessageSchemas;
  readonly perSecond: number;
}

export interface AnswerDoc {
  readonly description: string;
  readonly schema?: JsonSchema;
  /** Content type, default `application/json` if there is a schema. */
  readonly type?: string;
}

export interface Request<Body = unknown, Query = unknown, PathParams = Params> {
  readonly method: string;
  /** Without the query. May contain secrets: keep it out of logs. */
  readonly path: string;
  /** Percent-decoded once. */
  readonly params: PathParams;
  /** Validated, except in `admit`, which runs before. */
  readonly query: Query;
  readonly body: Body;
  /** Uploads by member name; those the handler does not take over are deleted. */
  readonly received: ReceivedBlobs;
  readonly headers: { readonly [name: string]: string | undefined };
  /** Address of the client: of the socket, or forwarded by a trusted proxy. */
  readonly address: string;
  /** Address of the socket: of the client, or of a proxy. */
  readonly peer: string;
  readonly requestId: string;
  /** The token of `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly idempotencyKey?: string | undefined;
  /** Log position that the response must reflect. */
  readonly ifPosition?: Position | undefined;
  /** Resume position of a stream: `Last-Event-ID`, or `lastEventId` of the query. Negative if invalid. */
  readonly cursor?: Position;
  readonly logger: Logger;
  /** Aborted when the client disconnects before the response, or after a timeout. */
  readonly signal: AbortSignal;
  /** With an `Idempotency-Key`, the same request of the same `caller` (any text, never stored) has the same `commandId`. */
  context(actor: string, caller: string): CommandContext;
}
