/** Reads JSON bodies with large base64 members, which are streamed to storage instead of memory. */
import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { After, Reservation } from '../../../application/concurrency/index.js';
import type { IncomingBlob, Receiving } from '../../../application/secrets/index.js';
import { watchBody } from '../hardening/connection-limits.js';
import {
  announcedBody,
  BodyRefused,
  DEFAULT_LIMIT,
  incomplete,
  notGzip,
  parse,
  type ReadResult,
  tooLarge,
} from '../server/body.js';
import { overBudgetProblem } from '../server/budgets.js';
import { isProblem, type Problem, problem } from '../server/policy.js';
import type { ReceivedBlobs, Uploads } from '../server/route.js';
import { createBase64 } from './base64.js';
import { createMemberScanner, type MemberSink, RestTooLarge } from './json-member-scanner.js';

export type ReadUpload = ReturnType<ReturnType<typeof createUploadReader>>;

/** Maximum bytes of the JSON without its large members. */
const MAX_REST_BYTES = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NO_BYTES = Buffer.alloc(0);

/** @param limit Maximum bytes of the whole body, decompressed; more is answered 413. */
export function createUploadReader({ members, receive }: Uploads, limit = DEFAULT_LIMIT, after?: After) {
  return (ctx: Context, reservation: Reservation) => {
    const received = new Map<string, IncomingBlob>();
    let current: Receiving | undefined;
    /** Deletes received members that the handler did not take over; to be called at the end of the request in any case. */
    const drop = async (): Promise<void> => {
      await current?.drop();
      for (const each of received.values()) await each.drop();
    };

    function sink(): MemberSink {
      let name = '';
      let base64 = createBase64();
      let remaining = 0;
      const write = async (bytes: Buffer | undefined) => {
        if (!bytes) throw new BodyRefused(problem(400, `${name} must be base64`));
        remaining -= bytes.length;
        if (remaining < 0) throw new BodyRefused(problem(400, `${name} must be at most ${members[name]} bytes`));
        if (bytes.length > 0) await current?.write(bytes);
      };
      return {
        async begin(member) {
          name = member;
          if (received.has(name)) throw new BodyRefused(problem(400, `${name} must be given once`));
          base64 = createBase64();
          remaining = members[name] ?? 0;
          current = await receive();
        },
        text: (chunk) => write(base64.push(chunk)),
        async end() {
          await write(base64.end());
          const blob = await current?.end();
          current = undefined;
          if (blob) received.set(name, blob);
        },
      };
    }

    /** Resolves with a digest of the body as `bytes`. */
    async function read(): Promise<ReadResult | Problem> {
      const announced = announcedBody(ctx.req, limit);
      if (!announced) return { bytes: NO_BYTES, json: {} };
      if (isProblem(announced)) return announced;
      const shortage = reservation.acquire(1);
      if (shortage) return { ...overBudgetProblem(shortage), problem: 429 };
      const scanner = createMemberScanner(Object.keys(members), sink(), MAX_REST_BYTES);
      // Only requests with an idempotency key are compared by digest.
      const digest = ctx.req.headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
      let size = 0;
      const failure = await forEachChunk(ctx, announced.isCompressed, after, async (bytes) => {
        size += bytes.length;
        if (size > limit) throw new BodyRefused(tooLarge);
        digest?.update(bytes);
        await scanner.feed(bytes);
      });
      if (failure) return failure;
      const rest = parse(scanner.rest());
      return isProblem(rest) ? rest : { bytes: digest?.digest() ?? NO_BYTES, json: rest.json };
    }

    return { received: received as ReceivedBlobs, read, drop };
  };
}

/** Processes a body chunk by chunk with backpressure. Resolves with the reason if it was not read completely. */
async function forEachChunk(
  { req }: Context,
  isCompressed: boolean,
  after: After | undefined,
  process: (bytes: Buffer) => Promise<void>,
): Promise<Problem | undefined> {
  const source: Readable & NodeJS.WritableStream = isCompressed
    ? createGunzip({ chunkSize: CHUNK_BYTES })
    : new PassThrough({ highWaterMark: CHUNK_BYTES });
  const abort = (reason: Problem) => source.destroy(new BodyRefused(reason));
  const onClose = () => {
    if (!req.complete) abort(incomplete);
  };
  const unwatch = watchBody(req, abort, after);
  req.once('close', onClose);
  try {
    req.pipe(source);
    for await (const chunk of source as AsyncIterable<Buffer>) await process(chunk);
    return undefined;
  } catch (error) {
    if (error instanceof BodyRefused) return error.problem;
    if (error instanceof RestTooLarge) return tooLarge;
    if (isCompressed && error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      return notGzip;
    throw error;
  } finally {
    req.off('close', onClose);
    req.unpipe(source);
    unwatch();
  }
}
