/** What routes answer, and how it is written as an HTTP response. */
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Consistency } from '../../../application/consistency/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { Sink } from '../../realtime/relay/sink.js';
import { openSse, SSE_HEADERS } from '../../realtime/sse-sink.js';
import type { Conversing, Opening } from '../../realtime/websocket/session.js';
import { openSocket } from '../../realtime/websocket/upgrade.js';
import type { ServicePolicy } from './policy.js';
import { fromRejection, isProblem, type Problem } from './problem.js';

/** `Position` and `Consistency` are what it reflects of the log. */
export interface Reply extends Partial<Consistency> {
  readonly status: number;
  /** JSON. */
  readonly body?: unknown;
  /** Instead of `body`: `text/plain` unless `headers` says otherwise. */
  readonly text?: string | Uint8Array;
  /** Instead of both: bytes that are written as the client reads them. `headers` say what they are. */
  readonly bytes?: Bytes;
  readonly headers?: { readonly [name: string]: string | readonly string[] };
}

export interface Bytes {
  /** Where it is known before. */
  readonly length?: number;
  /** Not begun where only the headers are asked for. */
  content(): AsyncIterable<Uint8Array>;
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

/** What the way of a request gives. */
export type Given = Exclude<Answer, Conversing> | Opening;

/** `opened` is told of every stream that begins. */
export function writeAnswer(ctx: Context, answer: Given, policy: ServicePolicy, opened?: (sink: Sink) => void): void {
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
    opened?.(sink);
    answer.stream(sink);
  } else if ('converse' in answer) {
    ctx.respond = false;
    openSocket(ctx.req, ctx.res, answer, opened);
  } else writeReply(ctx, answer);
}

/**
 * As koa's `set`, which makes several lists for it each time. Nothing where the headers have gone out.
 */
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
const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' };

/** JSON that is made as it is read: however long it is, little of it is in memory. */
export const inPieces = (content: Bytes['content'], headers?: Reply['headers']): Reply => ({
  status: 200,
  headers: { ...headers, 'Content-Type': JSON_TYPE },
  bytes: { content },
});

export async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

/** What a problem is in JSON, in the words of its service. */
export const errorBodyOf = (problem: Problem, { errorBody }: ServicePolicy): object => ({
  ...(errorBody ? errorBody(problem) : { error: problem.error }),
  ...problem.extra,
});

function writeReply(ctx: Context, reply: Reply): void {
  const { status, body, text, bytes, headers, position, consistency } = reply;
  if (position !== undefined) setHeaders(ctx, { Position: String(position) });
  if (consistency) setHeaders(ctx, { Consistency: consistency });
  ctx.status = status;
  if (bytes) writeBytes(ctx, bytes);
  else if (text !== undefined) {
    setHeaders(ctx, PLAIN);
    ctx.body = typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  } else if (body !== undefined) {
    // Before the body: koa would find out a type for it.
    setHeaders(ctx, JSON_HEADERS);
    ctx.body = JSON.stringify(body);
  } else {
    ctx.body = null;
    // For koa, what has no body has no content (204).
    ctx.status = status;
  }
  if (headers) setHeaders(ctx, headers);
}

/** Who takes nothing of what is written for so long is cut. */
const STALLED_MS = 15_000;

function writeBytes(ctx: Context, { length, content }: Bytes): void {
  const { req, res } = ctx;
  const body = Readable.from(ctx.method === 'HEAD' ? [] : content(), { objectMode: false });
  // It is told already that all went well: that it did not can be told only so.
  body.once('error', () => res.destroy());
  req.socket.setTimeout(STALLED_MS);
  ctx.body = body;
  if (length !== undefined) ctx.length = length;
}

/** Whole seconds, rounded up: a client that waits that long is not refused again. */
export const retryAfter = (ms: number) => String(Math.max(1, Math.ceil(ms / 1000)));
