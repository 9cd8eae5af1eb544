/** Reads request bodies: bytes with koa-body, then gzip, UTF-8 and JSON. */
import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { After } from '../../platform/process/timer.js';
import { watchBody } from '../hardening/body-limits.js';
import { BODY_COST, overBudgetProblem } from './budgets.js';
import { isProblem, type Problem, problem } from './problem.js';
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

export interface AnnouncedBody {
  readonly isCompressed: boolean;
  /** The limit if the request does not say. */
  readonly bytes: number;
}

/** Checks the headers of a body; undefined without one. */
export function announcedBody(
  { headers }: Pick<IncomingMessage, 'headers'>,
  limit: number,
  anyContentType = false,
): AnnouncedBody | Problem | undefined {
  const { 'content-length': length, 'content-type': type, 'content-encoding': encoding = 'identity' } = headers;
  if (headers['transfer-encoding'] === undefined && !Number(length)) return undefined;
  if (!anyContentType && type !== undefined && !JSON_LIKE.test(type)) return badContentType;
  const isCompressed = encoding.toLowerCase() !== 'identity';
  if (isCompressed && !GZIP.test(encoding)) return badEncoding;
  const bytes = Number(length ?? limit);
  return bytes > limit ? tooLarge : { isCompressed, bytes };
}

export function createBodyReader(
  route: Pick<Route, 'body' | 'anyContentType' | 'bodyLimit' | 'budget'>,
  after?: After,
): ReadBody {
  const limit = route.bodyLimit ?? DEFAULT_LIMIT;
  const takesBytes = route.body === 'bytes';
  const reserve = (reservation: Reservation, bytes: number): Problem | undefined => {
    const shortage = reservation.acquire(bytes * BODY_COST);
    // A separate budget limits the route, and limits of a route are answered 429.
    return shortage && { ...overBudgetProblem(shortage), ...(route.budget && { problem: 429 }) };
  };
  // Loaded with the first body, as koa-body is slow to load.
  let loading: ReturnType<typeof loadKoaBody> | undefined;

  async function readBytes(ctx: Context, reservation: Reservation): Promise<Buffer | Problem> {
    loading ??= loadKoaBody(limit);
    const read = await loading;
    const { req } = ctx;
    if (req.destroyed) return incomplete;
    // koa-body ignores bodies of unknown types. Its gzip decoding leaves an error uncaught when the compressed bytes are
    // corrupt after the limit was reached. So it only sees plain text.
    const { 'content-type': type } = req.headers;
    req.headers['content-type'] = 'text/plain';
    delete req.headers['content-encoding'];
    let refusal: Problem | undefined;
    const reject = (reason: Problem) => {
      refusal ??= reason;
      // Makes koa-body stop; the rest of the body is drained.
      req.emit('aborted');
    };
    const unwatch = watchBody(req, reject, after, (bytes) => {
      const shortage = refusal ? undefined : reserve(reservation, bytes);
      if (shortage) reject(shortage);
    });
    try {
      await read(ctx, async () => {});
      const bytes: unknown = ctx.request.body;
      return Buffer.isBuffer(bytes) ? bytes : NO_BYTES;
    } catch (error) {
      return refusal ?? problemOfRead(error);
    } finally {
      unwatch();
      req.headers['content-type'] = type;
    }
  }

  return async (ctx, reservation) => {
    const announced = announcedBody(ctx.req, limit, takesBytes || route.anyContentType);
    if (!announced) return { bytes: NO_BYTES, json: takesBytes ? undefined : {} };
    if (isProblem(announced)) return announced;
    const shortage = reserve(reservation, announced.bytes);
    if (shortage) return shortage;
    // Only received bytes stay reserved: announced ones may arrive slowly or never, and would block others.
    reservation.release();
    const received = await readBytes(ctx, reservation);
    if (isProblem(received)) return received;
    const bytes = announced.isCompressed
      ? await decompress(received, limit, (bytes) => reserve(reservation, bytes))
      : received;
    if (isProblem(bytes)) return bytes;
    // Pages may cut the text of a beacon within a character.
    return takesBytes ? { bytes, json: undefined } : parse(bytes, route.anyContentType);
  };
}

async function loadKoaBody(limit: number) {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  return koaBody({
    json: false,
    urlencoded: false,
    textLimit: limit,
    // None: the bytes themselves. As text, invalid UTF-8 would be replaced silently.
    encoding: '',
    parsedMethods: Object.values(HttpMethodEnum),
  });
}

/** Maps read errors caused by the client: too large, incomplete, or not of the announced length. */
function problemOfRead(error: unknown): Problem {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
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
