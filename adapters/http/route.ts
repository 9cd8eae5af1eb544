/** The shape of a route: what it takes, what it answers, and who may call. The OpenAPI document is made of the same. */
import type { CommandContext, Log, Position } from '../../application/ports.js';
import type { Room } from '../../application/room.js';
import type { JsonSchema } from '../../domain/shared/catalog.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Sink } from '../relay/sink.js';
import type { Conversing } from '../socket/conversation.js';
import type { Vocabulary } from '../socket/vocabulary.js';
import type { Limit } from './limit.js';
import type { Problem } from './problem.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `Caller` is what `admit` makes of the request; `Body` and `Query` are the types of what the schemas let through. */
export interface Route<Caller = unknown, Body = unknown, Query = unknown> {
  readonly method: Method;
  /** Exact and case-sensitive, for example `/rooms/:roomId/state`. `HEAD` comes with `GET`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** One of the policy's security schemes, or several any of which will do. It is `admit` that keeps people out. */
  readonly security?: string | readonly string[];
  /** An object schema; values come as text and are converted to the types asked for. */
  readonly query?: JsonSchema;
  /** JSON. Members the schema does not name are dropped before the handler sees them. */
  readonly body?: JsonSchema;
  /**
   * Drops nothing: the schema alone says what becomes of members it does not name. For schemas with alternatives
   * (dropping by one would lose what another asks for), and where an unknown member is to be refused.
   */
  readonly strictBody?: boolean;
  /** Takes JSON under every content type (beacons send text); without it, another one than JSON is 415. */
  readonly anyContentType?: boolean;
  /** The handler gets the bytes as a Buffer, unpacked if they came with gzip. Instead of `body`. */
  readonly rawBody?: boolean;
  /** Of a raw body, for the document: the content types that are usual. Others are taken, too. */
  readonly rawTypes?: readonly string[];
  /** By content type: bodies for people to begin with, for the document. One made of the schema has its extremes. */
  readonly examples?: { readonly [type: string]: unknown };
  /** In bytes, unpacked. Default 64 KiB; more is 413. */
  readonly bodyLimit?: number;
  /** Where large bodies have a room of their own, until their work is over; where there is none left, it is 429. */
  readonly room?: Room;
  /** Tells callers of one network apart who share that room. */
  nameOf?(caller: Caller): string;
  /** How long admission and handler may take together, ms, where that is for others to say; default 8 s. */
  readonly answerMs?: number;
  /** Makes the route a WebSocket: it answers with `Conversing`. */
  readonly socket?: SocketSpec;
  /** By status. Errors that every route can answer need not be named. */
  readonly answers: { readonly [status: number]: AnswerDoc };
  /** Runs before the body is read: who is calling, or why not. */
  admit?(request: Request): Promise<Caller | Problem | Rejection> | Caller | Problem | Rejection;
  /**
   * For commands that end what their callers are let in by. Where `admit` refuses a request with an `Idempotency-Key`,
   * this is asked what its first run was answered, with the body at hand; undefined, and the refusal stands, if there
   * was none. Nobody is admitted here: it must do nothing, and find nothing but commands of the same caller.
   */
  repeated?(request: Request<Body, Query>): Promise<Answer | undefined>;
  /** How often it may be done: commands count by their `context`, when they are done for the first time. */
  readonly quota?: RouteQuota;
  handle(request: Request<Body, Query>, caller: Caller): Promise<Answer | Lasting> | Answer | Lasting;
}

/** So many from one network, in so long; one too many is 429. */
export interface RouteQuota {
  readonly perNetwork: Limit;
  /** The rejection of one too many, `<service>/<reason>`. */
  readonly rejected: string;
  readonly description: string;
}

/** What is said over a WebSocket, either way; a closed list each. */
export interface SocketSpec {
  readonly says: Vocabulary;
  readonly hears: Vocabulary;
  /** Messages a client may send in a second. */
  readonly perSecond: number;
}

export interface AnswerDoc {
  readonly description: string;
  readonly schema?: JsonSchema;
  /** Content type, default `application/json` if there is a schema. */
  readonly type?: string;
}

export interface Request<Body = unknown, Query = unknown> {
  readonly method: string;
  /** As it was asked for, without the query. May carry secrets of the path: not for the log. */
  readonly path: string;
  /** Percent-decoded once. */
  readonly params: { readonly [name: string]: string };
  readonly query: Query;
  /** Validated; undefined in `admit`. */
  readonly body: Body;
  /** Lower-case names, as node gives them. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The client's address: the socket's, or what a trusted proxy says. */
  readonly address: string;
  readonly requestId: string;
  /** The token of `Authorization: Bearer`. */
  readonly bearer?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly idempotencyKey?: string;
  /** What the caller has seen elsewhere and wants reflected in the answer. */
  readonly ifPosition?: Position;
  /** Where a stream is to go on: `Last-Event-ID`, or the query's `lastEventId`. Negative for one we never gave. */
  readonly cursor?: Position;
  /** Carries the request's id. */
  readonly log: Log;
  /** Aborted when the client goes away before it is answered, or was answered that it took too long. */
  readonly signal: AbortSignal;
  /**
   * What a command needs to know about its request. With an `Idempotency-Key` the same request of the same
   * `caller` (any text that tells callers apart; never stored) gives the same `commandId` again.
   */
  context(actor: string, caller: string): CommandContext;
}

export interface Reply {
  readonly status: number;
  /** JSON. */
  readonly body?: unknown;
  /** Instead of `body`: `text/plain` unless `headers` says otherwise. */
  readonly text?: string | Uint8Array;
  readonly headers?: { readonly [name: string]: string | readonly string[] };
  /** The place in the log this answer reflects. */
  readonly position?: Position;
  /** The read models did not catch up in time; told as `Consistency: pending`. */
  readonly consistency?: 'pending';
}

/** A stream of server-sent events; the sink is the connection, its headers already on their way. */
export interface Streaming {
  stream(sink: Sink): void;
  readonly headers?: { readonly [name: string]: string };
}

/** What was begun in time, and takes as long as it takes: its caller waits for it knowingly. */
export interface Lasting {
  lasting(): Promise<Answer>;
}

/** A `Rejection` of the domain is an answer too: the policy says what it looks like. */
export type Answer = Reply | Problem | Rejection | Streaming | Conversing;
