/** Reads request bodies: the bytes with koa-body, then gzip, UTF-8 and JSON. */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { After, Reservation } from '../../../application/concurrency/index.js';
import { watchBody } from '../hardening/connection-limits.js';
import { BODY_COST, overBudgetProblem } from './budgets.js';
import { isProblem, type Problem, problem } from './policy.js';
import type { Route } from './route.js';

export type ReadBody = (ctx: Context, reservation: Reservation) => Promise<ReadResult | Problem>;

export interface ReadResult {
  readonly bytes: Buffer;
  /** Parsed; `{}` for an empty body. Undefined if the route takes bytes. */
  readonly json: unknown;
}

/** Maximum bytes of a body, decompressed, unless the route sets its own. */
export const DEFAULT_LIMIT = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);
const ANY_TYPE = 'application/octet-stream';
const JSON_LIKE = /^[\w!#$&^.+-]+\/(?:[\w!#$&^.+-]+\+)?json\b/i;
const GZIP = /^(x-)?gzip$/i;
const LONE_SURROGATE = /\p{Surrogate}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

export const tooLarge = problem(413, 'The body is too large');
export const notGzip = problem(400, 'The body is not valid gzip');
export const incomplete = problem(400, 'The body is incomplete');
const badEncoding = problem(415, 'The body must be uncompressed or gzip');
const badContentType = problem(415, 'The content type must be application/json');
const notJson = problem(400, 'The body is not valid JSON');
const loneSurrogate = problem(400, 'The body contains a lone surrogate (half a character)');

/** Why reading a body was stopped. */
export class BodyRefused extends Error {
  override readonly name = 'BodyRefused';
  constructor(readonly problem: Problem) {
    super(problem.error);
  }
}

/** Checks the headers of a body; undefined without one. */
export function announcedBody({ headers }: Pick<IncomingMessage, 'headers'>, limit: number, anyContentType = false) {
  const { 'content-length': length, 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (headers['transfer-encoding'] === undefined && !Number(length)) return undefined;
  if (!anyContentType && type !== undefined && !JSON_LIKE.test(type)) return badContentType;
  const isCompressed = encoding.toLowerCase() !== 'identity';
  if (isCompressed && !GZIP.test(encoding)) return badEncoding;
  // The limit if the request does not say.
  const bytes = Number(length ?? limit);
  return bytes > limit ? tooLarge : { isCompressed, bytes };
}

export function createBodyReader(
  route: Pick<Route, 'body' | 'anyContentType' | 'bodyLimit' | 'budget'>,
  after?: After,
): ReadBody {
  const limit = route.bodyLimit ?? DEFAULT_LIMIT;
  const takesBytes = route.body === 'bytes';
  // Loaded with the first body, as koa-body is slow to load.
  let loading: ReturnType<typeof loadKoaBody> | undefined;

  return async (ctx, reservation) => {
    const { req } = ctx;
    const announced = announcedBody(req, limit, takesBytes || route.anyContentType);
    if (!announced) return { bytes: NO_BYTES, json: takesBytes ? undefined : {} };
    if (isProblem(announced)) return announced;
    const reserve = (bytes: number): Problem | undefined => {
      const shortage = reservation.acquire(bytes * BODY_COST);
      // A separate budget limits the route, and limits of a route are answered 429.
      return shortage && { ...overBudgetProblem(shortage), ...(route.budget && { problem: 429 }) };
    };
    const shortage = reserve(announced.bytes);
    if (shortage) return shortage;
    // Only received bytes stay reserved: announced ones may arrive slowly or never, and would block others.
    reservation.release();

    loading ??= loadKoaBody(limit);
    const readBytes = await loading;
    if (req.destroyed) return incomplete;
    // An error of the request makes koa-body stop; the rest of the body is drained.
    const refuse = (reason: Problem) => req.emit('error', new BodyRefused(reason));
    const unwatch = watchBody(req, refuse, after, (bytes) => {
      const shortage = reserve(bytes);
      if (shortage) refuse(shortage);
    });
    const { 'content-type': type } = req.headers;
    // koa-body ignores bodies without a valid type. Its gzip decoder crashes the process if the bytes after the limit are
    // corrupt, so the decoding is done here.
    if (!ctx.is('*/*')) req.headers['content-type'] = ANY_TYPE;
    delete req.headers['content-encoding'];
    await readBytes(ctx, async () => {}).finally(unwatch);
    req.headers['content-type'] = type;
    const received = (ctx.request as { body?: unknown }).body as Buffer | Problem;
    const bytes =
      isProblem(received) || !announced.isCompressed ? received : await decompress(received, limit, reserve);
    if (isProblem(bytes)) return bytes;
    // Pages may cut the text of a beacon within a character.
    return takesBytes ? { bytes, json: undefined } : parse(bytes, route.anyContentType);
  };
}

/** Reads bytes: koa-body's own JSON parser would silently replace invalid UTF-8. The body becomes a buffer or a problem. */
async function loadKoaBody(limit: number) {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    textTypes: ['*/*'],
    textLimit: limit,
    // No text encoding: a buffer.
    encoding: '',
    parsedMethods: Object.values(HttpMethodEnum),
    onError(error, ctx) {
      Object.assign(ctx.request, { body: problemOfRead(error) });
    },
  });
}

/** Maps read errors caused by the client: refused here, too large, incomplete, or not of the announced length. */
function problemOfRead(error: Error): Problem {
  if (error instanceof BodyRefused) return error.problem;
  const status = 'status' in error ? error.status : undefined;
  if (status === 413) return tooLarge;
  if (status === 400) return incomplete;
  throw error;
}

async function decompress(
  compressed: Buffer,
  limit: number,
  reserve: (bytes: number) => Problem | undefined,
): Promise<Buffer | Problem> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  gunzip.end(compressed);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) return tooLarge;
      const shortage = reserve(chunk.length);
      if (shortage) return shortage;
      chunks.push(chunk);
    }
  } catch {
    return notGzip;
  }
  return Buffer.concat(chunks);
}

export function parse(bytes: Buffer, allowLoneSurrogates = false): ReadResult | Problem {
  if (bytes.length === 0) return { bytes, json: {} };
  try {
    const text = utf8.decode(bytes);
    const json: unknown = JSON.parse(text);
    return !allowLoneSurrogates && hasLoneSurrogate(text) ? loneSurrogate : { bytes, json };
  } catch {
    return notJson;
  }
}

/** Stored as UTF-8, all lone surrogates become the same character. */
function hasLoneSurrogate(text: string): boolean {
  if (!/\\ud[89a-f]/i.test(text)) return false;
  let found = false;
  JSON.parse(text, (name, value: unknown) => {
    found ||= LONE_SURROGATE.test(name) || (typeof value === 'string' && LONE_SURROGATE.test(value));
    return value;
  });
  return found;
}
