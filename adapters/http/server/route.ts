/** The shape of a route: what it takes, what it answers, and who may call. The OpenAPI document is made of the same. */
import type { Budget } from '../../../application/concurrency/index.js';
import type { CommandContext, Logger, Position } from '../../../application/ports/index.js';
import type { DataOf, JsonSchema, Rejection } from '../../../domain/shared/index.js';
import type { MessageSchemas } from '../../realtime/websocket/message-schema.js';
import type { ReceivedMembers, Uploads } from '../upload/upload-spec.js';
import type { Answer, Lasting } from './answer.js';
import type { Problem } from './problem.js';
import type { RouteQuota } from './rate-limit.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The parameters of a path: `/rooms/:roomId/state` has a `roomId`. */
export type ParamsOf<Path extends string> = string extends Path ? Params : { readonly [name in NamesIn<Path>]: string };

type Params = { readonly [name: string]: string };

type NamesIn<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<`/${More}`>
    : Rest
  : never;

/** What a handler gets of a body: the data of its schema, or the bytes. */
type BodyOf<Body> = Body extends 'bytes' ? Buffer : DataOf<Body>;

type Later<T> = Promise<T> | T;

/** Lets callers in, or says why not. */
export type Admit<Caller, Asked = Request> = (request: Asked) => Later<Caller | Problem | Rejection>;

/** One of a service's routes, whatever it takes. */
export type Route = RouteOf<string, JsonSchema | 'bytes' | undefined, JsonSchema | undefined, unknown>;

/**
 * A route with the types of all that its functions get: parameters from the path, body and query from their schemas
 * (written in place, or `as const`), the caller from `admit`, which therefore stands before what gets the caller. Only here
 * are they forgotten: the kernel gives each route what its own schemas and `admit` have let through.
 */
export const route = <
  const Path extends string,
  const Body extends JsonSchema | 'bytes' | undefined = undefined,
  const Query extends JsonSchema | undefined = undefined,
  Caller = undefined,
>(
  written: RouteOf<Path, Body, Query, Caller>,
): Route => written as unknown as Route;

export interface RouteOf<Path extends string, Body, Query, Caller> {
  readonly method: Method;
  /** Exact and case-sensitive, for example `/rooms/:roomId/state`. `HEAD` comes with `GET`. */
  readonly path: Path;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** One of the policy's security schemes, or several any of which will do. It is `admit` that keeps people out. */
  readonly security?: string | readonly string[];
  /** An object schema; values come as text and are converted to the types asked for. */
  readonly query?: Query;
  /**
   * JSON: members the schema does not name are dropped before the handler sees them. Or `bytes`: the handler gets them
   * as they came, unpacked if they came with gzip.
   */
  readonly body?: Body;
  /**
   * Drops nothing: the schema alone says what becomes of members it does not name. For schemas with alternatives
   * (dropping by one would lose what another asks for), and where an unknown member is to be refused.
   */
  readonly strictBody?: boolean;
  /** Takes JSON under every content type (beacons send text); without it, another one than JSON is 415. */
  readonly anyContentType?: boolean;
  /** Of bytes, for the document: the content types that are usual. Others are taken, too. */
  readonly bodyTypes?: readonly string[];
  /** By content type: bodies for people to begin with, for the document. One made of the schema has its extremes. */
  readonly examples?: { readonly [type: string]: unknown };
  /** In bytes, unpacked. Default 64 KiB; more is 413. */
  readonly bodyLimit?: number;
  /** Where large bodies have a budget of their own, until their work is over; where nothing is left of it, it is 429. */
  readonly budget?: Budget;
  /** Tells callers of one network apart who share that budget. */
  readonly nameOf?: (caller: Caller) => string;
  /**
   * Large base64 members of the JSON, which `body` names as texts: they are stored as they come, and are found in
   * `Request.received`. The route's `budget` counts how many bodies come at a time.
   */
  readonly uploads?: Uploads;
  /** How long admission and handler may take together, ms, where that is for others to say; default 8 s. */
  readonly answerMs?: number;
  /** Makes the route a WebSocket: it answers with `Conversing`. */
  readonly socket?: SocketSpec;
  /** By status. Errors that every route can answer need not be named. */
  readonly answers: { readonly [status: number]: AnswerDoc };
  /** Runs before the body is read, and again where that had yet to come: who is calling, or why not. Changes nothing. */
  readonly admit?: Admit<Caller, Request<unknown, { readonly [name: string]: unknown }, ParamsOf<Path>>>;
  /**
   * For commands that end what their callers are let in by. Where `admit` refuses a request with an `Idempotency-Key`,
   * this is asked what its first run was answered, with the body at hand; undefined, and the refusal stands, if there
   * was none. Nobody is admitted here: it must do nothing, and find nothing but commands of the same caller.
   */
  readonly repeated?: (request: Request<BodyOf<Body>, DataOf<Query>, ParamsOf<Path>>) => Promise<Answer | undefined>;
  /** How often it may be done: commands count by their `context`, when they are done for the first time. */
  readonly quota?: RouteQuota;
  readonly handle: (
    request: Request<BodyOf<Body>, DataOf<Query>, ParamsOf<Path>>,
    caller: Caller,
  ) => Later<Answer | Lasting>;
}

/** What is said over a WebSocket, either way; a closed list each. */
export interface SocketSpec {
  readonly says: MessageSchemas;
  readonly hears: MessageSchemas;
  /** Messages a client may send in a second. */
  readonly perSecond: number;
}

export interface AnswerDoc {
  readonly description: string;
  readonly schema?: JsonSchema;
  /** Content type, default `application/json` if there is a schema. */
  readonly type?: string;
}

export interface Request<Body = unknown, Query = unknown, OfPath = Params> {
  readonly method: string;
  /** As it was asked for, without the query. May carry secrets of the path: not for the log. */
  readonly path: string;
  /** Percent-decoded once. */
  readonly params: OfPath;
  /** Validated, but in `admit`, which comes before that. */
  readonly query: Query;
  /** Validated; there is none yet in `admit`. */
  readonly body: Body;
  /** What was uploaded with the body, by member; whatever the handler does not release is dropped. */
  readonly received: ReceivedMembers;
  /** Lower-case names, as node gives them. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The client's address: the socket's, or what a trusted proxy says. */
  readonly address: string;
  /** The socket's address: the client's, or that of the proxy before us. */
  readonly peer: string;
  readonly requestId: string;
  /** The token of `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly idempotencyKey?: string | undefined;
  /** What the caller has seen elsewhere and wants reflected in the answer. */
  readonly ifPosition?: Position | undefined;
  /** Where a stream is to go on: `Last-Event-ID`, or the query's `lastEventId`. Negative for one we never gave. */
  readonly cursor?: Position;
  /** Carries the request's id. */
  readonly logger: Logger;
  /** Aborted when the client goes away before it is answered, or was answered that it took too long. */
  readonly signal: AbortSignal;
  /**
   * What a command needs to know about its request. With an `Idempotency-Key` the same request of the same
   * `caller` (any text that tells callers apart; never stored) gives the same `commandId` again.
   */
  context(actor: string, caller: string): CommandContext;
}
