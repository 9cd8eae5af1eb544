/** Reads a request's body: the bytes with koa-body under a limit, then gzip, UTF-8 and JSON, each with its error. */
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { After } from '../../platform/process/timer.js';
import { eachPiece } from '../hardening/chunk-limit.js';
import { watchProgress } from '../hardening/slow-body-timeout.js';
import { BODY_COST, overBudget } from './budgets.js';
import { type Problem, problem, TOO_SLOW } from './problem.js';
import type { Route } from './route.js';

export type ReadBody = (ctx: Context, held: Reservation) => Promise<ReadResult | Problem>;

export interface ReadResult {
  readonly bytes: Buffer;
  /** Parsed; `{}` where nothing was sent. Undefined if the route reads the bytes itself. */
  readonly json: unknown;
}

/** Counts so many bytes more of a body, or says why they are too many. */
type Take = (held: Reservation, bytes: number) => Problem | undefined;

const DEFAULT_LIMIT = 64 * 1024;
const NOTHING = Buffer.alloc(0);
/** A content type of JSON. */
export const JSON_LIKE = /^[\w!#$&^.+-]+\/(?:[\w!#$&^.+-]+\+)?json\b/i;

export const tooLarge = problem(413, 'The body is too large');
const notJson = problem(400, 'The body is not valid JSON');
const notText = problem(400, 'The body has half a character in it (a lone surrogate)');
/** The rest is not waited for. */
export const tooSlow = problem(408, TOO_SLOW, { headers: { Connection: 'close' } });
export const inCrumbs = problem(400, 'The body comes in too many pieces');
export const notGzip = problem(400, 'The body is not valid gzip');
export const notPacked = problem(415, 'Send the body plain or with gzip');
export const notTyped = problem(415, 'Send the body as application/json');
export const incomplete = problem(400, 'The body is incomplete');
/** Of what is unpacked at once. */
const CHUNK_BYTES = 64 * 1024;
export const GZIP = /^(x-)?gzip$/i;
const HALF = /\p{Surrogate}/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** In bytes, unpacked. */
export const bodyLimitOf = ({ bodyLimit }: Pick<Route, 'bodyLimit'>): number => bodyLimit ?? DEFAULT_LIMIT;

/** A reader for the bodies of one route; `after` is the time that they have to come in. */
export function createBodyReader(
  route: Pick<Route, 'body' | 'anyContentType' | 'bodyLimit' | 'budget'>,
  after?: After,
): ReadBody {
  const limit = bodyLimitOf(route);
  const raw = route.body === 'bytes';
  const anyType = raw || route.anyContentType;
  const take: Take = (held, bytes) => {
    const lack = held.acquire(bytes * BODY_COST);
    // A budget of its own is a queue of the route's, and a full queue is 429 like any limit of it.
    return lack && { ...overBudget(lack), ...(route.budget && { problem: 429 }) };
  };
  const readBytes = createByteReader(limit, take, after);

  return async (ctx, held) => {
    const { headers } = ctx.req;
    if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) {
      return { bytes: NOTHING, json: raw ? undefined : {} };
    }
    const type = headers['content-type'];
    if (!anyType && type !== undefined && !JSON_LIKE.test(type)) {
      return notTyped;
    }
    // What comes without its length may be as long as it can.
    const expected = Math.min(limit, Number(headers['content-length'] ?? limit));
    const lacking = take(held, expected);
    if (lacking) return lacking;
    // A budget is for what has come: what was only announced may come slowly, or never, and would keep others out.
    held.release();
    const packed = await readBytes(ctx, held);
    if (!Buffer.isBuffer(packed)) return packed;
    const bytes = await unpack(packed, ctx.req.headers['content-encoding'], limit, (bytes) => take(held, bytes));
    if (!Buffer.isBuffer(bytes)) return bytes;
    if (raw) return { bytes, json: undefined };
    // What beacons carry was cut by pages of anybody's.
    return parse(bytes, route.anyContentType);
  };
}

async function loadReader(limit: number) {
  const { HttpMethodEnum, koaBody } = await import('koa-body');
  // Bytes pass as characters of one byte each: koa-body gives text only, and replaces broken UTF-8 unseen.
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

function createByteReader(limit: number, take: Take, after?: After) {
  // Loaded with the first body: it brings what takes long to load, and a start need not wait for it.
  let loading: ReturnType<typeof loadReader> | undefined;
  return async (ctx: Context, held: Reservation): Promise<Buffer | Problem> => {
    loading ??= loadReader(limit);
    const read = await loading;
    if (ctx.req.destroyed) return incomplete;
    const { headers } = ctx.req;
    const { 'content-encoding': encoding, 'content-type': type } = headers;
    // koa-body passes over bodies without a type it can parse, and unpacks gzip in a way that leaves an error
    // uncaught when the packed bytes are broken after the limit was reached. For it, these are plain bytes.
    delete headers['content-encoding'];
    headers['content-type'] = 'application/octet-stream';
    let givenUp: Problem | undefined;
    const giveUp = (why: Problem) => {
      givenUp = why;
      // Whoever reads lets go of what has come; the rest passes unread.
      ctx.req.emit('aborted');
    };
    const unheard = eachPiece(ctx.req, {
      told: (bytes) => {
        const lacking = givenUp ? undefined : take(held, bytes);
        if (lacking) giveUp(lacking);
      },
      tooMany: () => {
        if (!givenUp) giveUp(inCrumbs);
      },
    });
    const unwatch = watchProgress(ctx.req.socket, () => giveUp(tooSlow), after);
    try {
      await read(ctx, async () => {});
    } catch (error) {
      return givenUp ?? unread(error);
    } finally {
      unwatch();
      unheard();
      if (encoding !== undefined) headers['content-encoding'] = encoding;
      if (type !== undefined) headers['content-type'] = type;
      else delete headers['content-type'];
    }
    const text: unknown = ctx.request.body;
    return typeof text === 'string' ? Buffer.from(text, 'latin1') : NOTHING;
  };
}

/** Reading fails by the client's doing: too much, cut short, or not what `Content-Length` said. */
function unread(error: unknown): Problem {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (status === 413) return tooLarge;
  if (status === 400) return incomplete;
  throw error;
}

async function unpack(
  packed: Buffer,
  encoding: string | undefined,
  limit: number,
  take: (bytes: number) => Problem | undefined,
): Promise<Buffer | Problem> {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return packed;
  if (!GZIP.test(encoding)) return notPacked;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  gunzip.end(packed);
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > limit) return tooLarge;
      const lacking = take(piece.length);
      if (lacking) return lacking;
      pieces.push(piece);
    }
  } catch {
    return notGzip;
  }
  return Buffer.concat(pieces);
}

/** JSON from its bytes; `halves`: with texts that are none. */
export function parse(bytes: Buffer, halves = false): ReadResult | Problem {
  if (bytes.length === 0) return { bytes, json: {} };
  try {
    const text = utf8.decode(bytes);
    const json: unknown = JSON.parse(text);
    return !halves && hasHalves(text) ? notText : { bytes, json };
  } catch {
    return notJson;
  }
}

/** Whether a name or a text has half of a surrogate pair in it: kept as UTF-8, it would be what another half is, too. */
function hasHalves(text: string): boolean {
  if (!/\\ud[89a-f]/i.test(text)) return false;
  let found = false;
  JSON.parse(text, (name, value: unknown) => {
    found ||= HALF.test(name) || (typeof value === 'string' && HALF.test(value));
    return value;
  });
  return found;
}
