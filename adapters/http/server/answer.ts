/** Results of route handlers, and how they are written as HTTP responses. */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Consistency } from '../../../application/consistency/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { openSse, type Sink, SSE_HEADERS } from '../../realtime/relay/sink.js';
import type { AcceptedSocket, SocketAnswer } from '../../realtime/websocket/session.js';
import { openSocket } from '../../realtime/websocket/upgrade.js';
import { STALLED_MS } from '../hardening/connection-limits.js';
import { fromRejection, isProblem, type Problem, type ServicePolicy } from './policy.js';

/** A response; `position` and `consistency` become headers. */
export interface Reply extends Partial<Consistency> {
  /** Default 200. */
  readonly status?: number;
  readonly body?: unknown;
  /** Instead of `body`: `text/plain` unless `headers` says otherwise. */
  readonly text?: string | Uint8Array;
  /** Instead of both: bytes streamed with backpressure; `headers` include their type. */
  readonly bytes?: Bytes;
  readonly headers?: { readonly [name: string]: string | readonly string[] };
}

export interface Bytes {
  readonly length?: number;
  /** Not called for HEAD. */
  content(): AsyncIterable<Uint8Array | string>;
}

/** A stream of server-sent events; the headers are sent before `stream` is called. */
export interface Streaming {
  stream(sink: Sink): void;
  readonly headers?: { readonly [name: string]: string };
}

/** Work that was started within the deadline and may exceed it, as its caller expects. */
export interface LongRunning {
  finish(): Promise<Answer>;
}

/** Result of a handler. A `Rejection` of the domain is formatted by the policy. */
export type Answer = Reply | Problem | Rejection | Streaming | SocketAnswer;

/** Result of the route pipeline. */
export type RouteResult = Exclude<Answer, SocketAnswer> | AcceptedSocket;

export function writeAnswer(
  ctx: Context,
  answer: RouteResult,
  policy: ServicePolicy,
  onStreamOpened?: (sink: Sink) => void,
): void {
  if (isRejection(answer)) writeProblem(ctx, (policy.rejected ?? fromRejection)(answer), policy);
  else if (isProblem(answer)) writeProblem(ctx, answer, policy);
  else if ('stream' in answer) {
    if (ctx.method === 'HEAD') {
      setHeaders(ctx, { ...SSE_HEADERS, ...answer.headers });
      ctx.status = 200;
      return;
    }
    ctx.respond = false;
    const sink = openSse(ctx.res, answer.headers);
    onStreamOpened?.(sink);
    answer.stream(sink);
  } else if ('converse' in answer) {
    ctx.respond = false;
    openSocket(ctx.req, ctx.res, answer, onStreamOpened);
  } else writeReply(ctx, answer);
}

/** Like koa's `set`, but without its allocations. Does nothing after the headers were sent. */
export function setHeaders({ res }: Context, headers: NonNullable<Reply['headers']>): void {
  if (res.headersSent) return;
  for (const name in headers) res.setHeader(name, headers[name]!);
}

export function writeProblem(ctx: Context, problem: Problem, policy: ServicePolicy): void {
  const { headers, retryAfterMs } = problem;
  if (headers) setHeaders(ctx, headers);
  if (retryAfterMs !== undefined) ctx.set('Retry-After', retryAfter(retryAfterMs));
  ctx.status = problem.problem;
  ctx.body = errorBodyOf(problem, policy);
}

export const JSON_TYPE = 'application/json; charset=utf-8';
const JSON_HEADERS = { 'Content-Type': JSON_TYPE };
const TEXT_HEADERS = { 'Content-Type': 'text/plain; charset=utf-8' };

/** Formats the JSON body of a problem for the service. */
export const errorBodyOf = (problem: Problem, { errorBody }: ServicePolicy): object => ({
  ...(errorBody ? errorBody(problem) : { error: problem.error }),
  ...problem.extra,
});

function writeReply(ctx: Context, reply: Reply): void {
  const { status = 200, body, text, bytes, headers, position, consistency } = reply;
  if (position !== undefined) setHeaders(ctx, { Position: String(position) });
  if (consistency) setHeaders(ctx, { Consistency: consistency });
  ctx.status = status;
  if (bytes) writeBytes(ctx, bytes);
  else if (text !== undefined) {
    setHeaders(ctx, TEXT_HEADERS);
    ctx.body = typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  } else if (body !== undefined) {
    // Before the body: koa would otherwise derive a type from it.
    setHeaders(ctx, JSON_HEADERS);
    ctx.body = JSON.stringify(body);
  } else {
    ctx.body = null;
    // koa sets 204 when the body is null.
    ctx.status = status;
  }
  if (headers) setHeaders(ctx, headers);
}

function writeBytes(ctx: Context, { length, content }: Bytes): void {
  const { req, res } = ctx;
  const body = Readable.from(ctx.method === 'HEAD' ? [] : content(), { objectMode: false });
  // The success status is already sent; a failure can only be signaled by closing the connection.
  body.once('error', () => res.destroy());
  req.socket.setTimeout(STALLED_MS);
  ctx.body = body;
  if (length !== undefined) ctx.length = length;
}

/** Whole seconds, rounded up so that the retry succeeds. */
export const retryAfter = (ms: number) => String(Math.max(1, Math.ceil(ms / 1000)));
