/** Reads JSON bodies with large base64 members: these go to where they are kept as they come, and never stand in memory. */
import { createHash } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Context } from 'koa';
import type { Reservation } from '../../../application/concurrency/index.js';
import type { IncomingBlob, Receiving } from '../../../application/files/encrypted-blobs.js';
import type { After } from '../../platform/process/timer.js';
import { eachPiece } from '../hardening/chunk-limit.js';
import { watchProgress } from '../hardening/slow-body-timeout.js';
import {
  GZIP,
  inCrumbs,
  incomplete,
  JSON_LIKE,
  notGzip,
  notPacked,
  notTyped,
  parse,
  type ReadResult,
  tooLarge,
  tooSlow,
} from '../server/body.js';
import { overBudget } from '../server/budgets.js';
import { isProblem, type Problem, problem } from '../server/problem.js';
import { createBase64 } from './base64.js';
import { createMemberScanner, type MemberSink, RestTooLarge } from './json-member-scanner.js';
import type { ReceivedMembers, Uploads } from './upload-spec.js';

export interface ReadUpload {
  readonly received: ReceivedMembers;
  /** Its `bytes` are a digest of the body. Whatever comes of it, `drop` is to be called once its work is over. */
  read(): Promise<ReadResult | Problem>;
  /** Lets go of what nobody has kept. */
  drop(): Promise<void>;
}

/** Of the JSON without its large members. */
const MOST_REST = 64 * 1024;
const CHUNK_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

/** `limit`: of the whole body, unpacked; more is 413. `held` counts uploads, each one. */
export function createUploadReader(
  { members, receive }: Uploads,
  limit: number,
  after?: After,
): (ctx: Context, held: Reservation) => ReadUpload {
  return (ctx, held) => {
    const received = new Map<string, IncomingBlob>();
    let coming: Receiving | undefined;
    const drop = async () => {
      await coming?.drop();
      for (const each of received.values()) await each.drop();
    };

    /** Decodes each large member into its file. */
    function sink(): MemberSink {
      let name = '';
      let base64 = createBase64();
      let left = 0;
      const write = async (bytes: Buffer | undefined) => {
        if (!bytes) throw new Refused(problem(400, `${name} must be base64`));
        left -= bytes.length;
        if (left < 0) throw new Refused(problem(400, `${name} must be at most ${members[name]} bytes`));
        if (bytes.length > 0) await coming?.write(bytes);
      };
      return {
        async begin(begun) {
          name = begun;
          if (received.has(name)) throw new Refused(problem(400, `${name} must be given once`));
          base64 = createBase64();
          left = members[name] ?? 0;
          coming = await receive();
        },
        text: (piece) => write(base64.push(piece)),
        async end() {
          await write(base64.end());
          const arrived = await coming?.end();
          coming = undefined;
          if (arrived) received.set(name, arrived);
        },
      };
    }

    async function read(): Promise<ReadResult | Problem> {
      const { headers } = ctx.req;
      const { 'content-length': length, 'content-encoding': encoding, 'content-type': type } = headers;
      if (headers['transfer-encoding'] === undefined && !Number(length)) return { bytes: NOTHING, json: {} };
      if (type !== undefined && !JSON_LIKE.test(type)) return notTyped;
      const isPacked = encoding !== undefined && encoding.toLowerCase() !== 'identity';
      if (isPacked && !GZIP.test(encoding)) return notPacked;
      if (Number(length ?? 0) > limit) return tooLarge;
      const lack = held.acquire(1);
      if (lack) return { ...overBudget(lack), problem: 429 };
      const scanner = createMemberScanner(Object.keys(members), sink(), MOST_REST);
      // Only a key makes two requests of it.
      const digest = headers['idempotency-key'] === undefined ? undefined : createHash('sha256');
      let size = 0;
      const failed = await eachChunk(ctx, isPacked, after, async (bytes) => {
        size += bytes.length;
        if (size > limit) throw new Refused(tooLarge);
        digest?.update(bytes);
        await scanner.feed(bytes);
      });
      if (failed) return failed;
      const rest = parse(scanner.rest());
      return isProblem(rest) ? rest : { bytes: digest?.digest() ?? NOTHING, json: rest.json };
    }

    return { received, read, drop };
  };
}

/** Why a body is not read any further. */
class Refused extends Error {
  override readonly name = 'Refused';
  constructor(readonly problem: Problem) {
    super(problem.error);
  }
}

/** Takes a body in chunks, one after the other: no more of it is read than is worked on. Answers why it came to no end. */
async function eachChunk(
  { req }: Context,
  isPacked: boolean,
  after: After | undefined,
  take: (bytes: Buffer) => Promise<void>,
): Promise<Problem | undefined> {
  const source: Readable & NodeJS.WritableStream = isPacked
    ? createGunzip({ chunkSize: CHUNK_BYTES })
    : new PassThrough({ highWaterMark: CHUNK_BYTES });
  const giveUp = (why: Problem) => source.destroy(new Refused(why));
  const broke = () => {
    if (!req.complete) giveUp(incomplete);
  };
  const unheard = eachPiece(req, { told: () => {}, tooMany: () => giveUp(inCrumbs) });
  const unwatch = watchProgress(req.socket, () => giveUp(tooSlow), after);
  req.once('close', broke);
  try {
    req.pipe(source);
    for await (const chunk of source as AsyncIterable<Buffer>) await take(chunk);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.problem;
    if (error instanceof RestTooLarge) return tooLarge;
    if (isPacked && error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) return notGzip;
    throw error;
  } finally {
    req.off('close', broke);
    req.unpipe(source);
    unwatch();
    unheard();
  }
}
