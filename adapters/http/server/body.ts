/** Reads request bodies: bytes by koa-body with a limit, then gzip, UTF-8 and JSON. */
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { After } from '../../platform/process/timer.js';
import { watchChunks } from '../hardening/chunk-limit.js';
import { watchBodyProgress } from '../hardening/slow-body-timeout.js';
import { BODY_COST, overBudgetProblem } from './budgets.js';
import { type Problem, problem, TOO_SLOW } from './problem.js';
import type { Route } from './route.js';

export type ReadBody = (ctx: Context, reservation: Reservation) => Promise<ReadResult | Problem>;

export interface ReadResult {
  readonly bytes: Buffer;
  /** Parsed; `{}` for an empty body. Undefined if the route takes bytes. */
  readonly json: unknown;
}

/** Reserves further bytes of a body; returns a problem if there are too many. */
type ReserveBytes = (reservation: Reservation, bytes: number) => Problem | undefined;

const DEFAULT_LIMIT = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);
/** JSON content types. */
export const JSON_LIKE = /^[\w!#$&^.+-]+\/(?:[\w!#$&^.+-]+\+)?json\b/i;

export const tooLarge = problem(413, 'The body is too large');
const notJson = problem(400, 'The body is not valid JSON');
const loneSurrogate = problem(400, 'The body contains a lone surrogate (half a character)');
/** Closes the connection, as the rest of the body is not awaited. */
export const tooSlow = problem(408, TOO_SLOW, { headers: { Connection: 'close' } });
export const tooManyChunks = problem(400, 'The body is sent in too many small chunks');
export const notGzip = problem(400, 'The body is not valid gzip');
export const badEncoding = problem(415, 'The body must be uncompressed or gzip');
export const badContentType = problem(415, 'The content type must be application/json');
export const incomplete = problem(400, 'The body is incomplete');
/** Size of decompressed chunks. */
const CHUNK_BYTES = 64 * 1024;
export const GZIP = /^(x-)?gzip$/i;
const LONE_SURROGATE = /\p{Surrogate}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Maximum bytes, decompressed. */
export const bodyLimitOf = ({ bodyLimit }: Pick<Route, 'bodyLimit'>): number => bodyLimit ?? DEFAULT_LIMIT;

/** Creates a reader for the bodies of a route. `after` times the detection of slow bodies. */
export function createBodyReader(
  route: Pick<Route, 'body' | 'anyContentType' | 'bodyLimit' | 'budget'>,
  after?: After,
): ReadBody {
  const limit = bodyLimitOf(route);
  const raw = route.body === 'bytes';
  const anyType = raw || route.anyContentType;
  const reserve: ReserveBytes = (reservation, bytes) => {
    const shortage = reservation.acquire(bytes * BODY_COST);
    // A separate budget limits the route, and limits of a route are answered 429.
    return shortage && { ...overBudgetProblem(shortage), ...(route.budget && { problem: 429 }) };
  };
  const readBytes = createByteReader(limit, reserve, after);

  return async (ctx, reservation) => {
    const { headers } = ctx.req;
    if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) {
      return { bytes: NO_BYTES, json: raw ? undefined : {} };
    }
    const type = headers['content-type'];
    if (!anyType && type !== undefined && !JSON_LIKE.test(type)) {
      return badContentType;
    }
    // Without Content-Length the body may be as long as the limit.
    const expectedBytes = Math.min(limit, Number(headers['content-length'] ?? limit));
    const overBudgetProblem = reserve(reservation, expectedBytes);
    if (overBudgetProblem) return overBudgetProblem;
    // Only received bytes stay reserved: announced ones may arrive slowly or never, and would block others.
    reservation.release();
    const compressed = await readBytes(ctx, reservation);
    if (!Buffer.isBuffer(compressed)) return compressed;
    const bytes = await decompress(compressed, ctx.req.headers['content-encoding'], limit, (bytes) =>
      reserve(reservation, bytes),
    );
    if (!Buffer.isBuffer(bytes)) return bytes;
    if (raw) return { bytes, json: undefined };
    // Pages may cut the text of a beacon within a character.
    return parse(bytes, route.anyContentType);
  };
}

async function loadReader(limit: number) {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  // Latin-1, so that bytes survive: koa-body returns only text, and silently replaces invalid UTF-8.
  return koaBody({
    json: false,
    urlencoded: false,
    multipart: false,
    textTypes: ['*/*'],
    encoding: 'binary',
    textLimit: limit,
    parsedMethods: Object.values(HttpMethodEnum),
  });
}

function createByteReader(limit: number, reserve: ReserveBytes, after?: After) {
  // Loaded with the first body, as koa-body is slow to load.
  let loading: ReturnType<typeof loadReader> | undefined;
  return async (ctx: Context, reservation: Reservation): Promise<Buffer | Problem> => {
    loading ??= loadReader(limit);
    const read = await loading;
    if (ctx.req.destroyed) return incomplete;
    const { headers } = ctx.req;
    const { 'content-encoding': encoding, 'content-type': type } = headers;
    // koa-body ignores bodies of unknown types. Its gzip decoding leaves an error uncaught when the compressed bytes are
    // corrupt after the limit was reached. So it only sees plain bytes.
    delete headers['content-encoding'];
    headers['content-type'] = 'application/octet-stream';
    let aborted: Problem | undefined;
    const abort = (reason: Problem) => {
      aborted = reason;
      // Makes koa-body stop; the rest of the body is drained.
      ctx.req.emit('aborted');
    };
    const unwatchChunks = watchChunks(ctx.req, {
      onChunk: (bytes) => {
        const overBudgetProblem = aborted ? undefined : reserve(reservation, bytes);
        if (overBudgetProblem) abort(overBudgetProblem);
      },
      onTooMany: () => {
        if (!aborted) abort(tooManyChunks);
      },
    });
    const unwatchProgress = watchBodyProgress(ctx.req.socket, () => abort(tooSlow), after);
    try {
      await read(ctx, async () => {});
    } catch (error) {
      return aborted ?? problemOfRead(error);
    } finally {
      unwatchProgress();
      unwatchChunks();
      if (encoding !== undefined) headers['content-encoding'] = encoding;
      if (type !== undefined) headers['content-type'] = type;
      else delete headers['content-type'];
    }
    const text: unknown = ctx.request.body;
    return typeof text === 'string' ? Buffer.from(text, 'latin1') : NO_BYTES;
  };
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
  encoding: string | undefined,
  limit: number,
  reserve: (bytes: number) => Problem | undefined,
): Promise<Buffer | Problem> {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return compressed;
  if (!GZIP.test(encoding)) return badEncoding;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  gunzip.end(compressed);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > limit) return tooLarge;
      const overBudgetProblem = reserve(chunk.length);
      if (overBudgetProblem) return overBudgetProblem;
      chunks.push(chunk);
    }
  } catch {
    return notGzip;
  }
  return Buffer.concat(chunks);
}

/** Parses JSON. */
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

/** Whether a name or text contains a lone surrogate: stored as UTF-8, all of them become the same character. */
function hasLoneSurrogate(text: string): boolean {
  if (!/\\ud[89a-f]/i.test(text)) return false;
  let found = false;
  JSON.parse(text, (name, value: unknown) => {
    found ||= LONE_SURROGATE.test(name) || (typeof value === 'string' && LONE_SURROGATE.test(value));
    return value;
  });
  return found;
}
