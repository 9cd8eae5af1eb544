/** Streams stored files and large JSON, limited in number and protected from being rendered as a page. */
import type { Budget } from '../../../application/concurrency/index.js';
import type { Consistency } from '../../../application/consistency/index.js';
import { NotStored, type StoredFile } from '../../../application/ports/index.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { Answer, Reply } from './answer.js';
import { overBudgetProblem } from './budgets.js';
import { selectRange } from './byte-range.js';
import { isProblem, type Problem } from './policy.js';
import type { Request } from './route.js';
import { streamedJson } from './streamed-json.js';

/** If opened as a document: no scripts and no loading; inline styles only, for SVG. */
const SANDBOX_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

export interface DownloadOptions {
  readonly kind: 'attachment' | 'inline';
  /** Answer for a file that is no longer in the store. */
  readonly notFound: Rejection;
  /** Counts running downloads. */
  readonly budget: Budget;
  /** Caller whose share of the budget is used. */
  readonly callerKey: string;
}

/** Sends a file, or the requested range of it. */
export async function sendDownload(
  { method, headers, logger, signal }: Pick<Request, 'method' | 'headers' | 'logger' | 'signal'>,
  { contentType, originalName, size, sha256, position, read }: StoredFile,
  { kind, notFound, budget, callerKey }: DownloadOptions,
): Promise<Answer> {
  const selection = selectRange({ method, headers }, { etag: `"${sha256}"`, size });
  if (isProblem(selection)) return selection;
  const common = {
    // Access may change, so clients must revalidate.
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': SANDBOX_POLICY,
    'X-Content-Type-Options': 'nosniff',
    ...selection.headers,
  };
  if (selection.status === 304) return { status: 304, headers: common, position };
  const { status, from, to } = selection;
  const responseHeaders = {
    ...common,
    'Content-Type': contentType,
    'Content-Disposition': contentDisposition(kind, originalName),
  };
  if (method === 'HEAD')
    return { status, position, headers: responseHeaders, bytes: { length: to - from, content: () => read(0, 0) } };
  const reservation = budget.reserve(callerKey);
  const shortage = reservation.acquire(1);
  if (shortage) return overBudgetProblem(shortage);
  // Reads the first chunk before the status is sent, to answer unreadable files with an error.
  const content = await readFirstChunk(read(from, to), reservation.release, signal).catch((error) => {
    if (!(error instanceof NotStored)) throw error;
    logger.error({ err: error, sha256 }, 'a file is missing or damaged in the file store; answered 404');
    return notFound;
  });
  if ('rejected' in content) return content;
  return { status, position, headers: responseHeaders, bytes: { length: to - from, content: () => content } };
}

/** Counts like this many downloads: files are read in small chunks, JSON is made from pages of large events. */
const JSON_COST = 8;

/** JSON generated from the log while the client reads it. */
export interface JsonStream extends Consistency {
  pieces(): AsyncIterable<string>;
}

/** Streams JSON; counts in the budget of downloads. */
export async function sendJsonStream(
  { method, signal }: Pick<Request, 'method' | 'signal'>,
  { pieces, ...consistency }: JsonStream,
  budget: Budget,
  callerKey: string,
): Promise<Reply | Problem> {
  if (method === 'HEAD') return { ...streamedJson(pieces), ...consistency };
  const reservation = budget.reserve(callerKey);
  const shortage = reservation.acquire(JSON_COST);
  if (shortage) return overBudgetProblem(shortage);
  const content = await readFirstChunk(pieces(), reservation.release, signal);
  return { ...streamedJson(() => content), ...consistency };
}

/**
 * Reads the first chunk, then returns all chunks.
 *
 * @param release Called when no more chunks will be read: at the end, on errors, and on abort, since the response is not
 *   read after a disconnect or timeout.
 */
async function readFirstChunk<Chunk>(
  chunks: AsyncIterable<Chunk>,
  release: () => void,
  signal: AbortSignal,
): Promise<AsyncIterable<Chunk>> {
  const iterator = chunks[Symbol.asyncIterator]();
  let first: IteratorResult<Chunk> | undefined;
  try {
    first = await iterator.next();
  } catch (error) {
    release();
    throw error;
  }
  const next = async () => {
    const result = first ?? (await iterator.next());
    first = undefined;
    if (result.done) release();
    return result;
  };
  const end = async (): Promise<IteratorResult<Chunk>> => {
    release();
    first = undefined;
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  // Errors while ending the source are irrelevant then.
  const drop = () => void end().catch(() => {});
  if (signal.aborted) drop();
  else signal.addEventListener('abort', drop, { once: true });
  return { [Symbol.asyncIterator]: () => ({ next, return: end, throw: end }) };
}

/** Characters that RFC 5987 requires to be percent-encoded. */
const ENCODED_CHARACTERS = /[^A-Za-z0-9!#$&+.^_`|~-]/gu;

/** Content-Disposition (RFC 6266) with an ASCII file name and the exact one (RFC 5987). */
const contentDisposition = (kind: 'attachment' | 'inline', name: string): string =>
  `${kind}; filename="${toAscii(name)}"; filename*=UTF-8''${percentEncode(name)}`;

const toAscii = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');

const percentEncode = (name: string): string =>
  name.replace(ENCODED_CHARACTERS, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
