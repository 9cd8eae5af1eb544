/** How what may be large is sent, so many at a time: files and images as what they are, so that no browser takes them for a page. */
import type { Download } from '../../../application/chat/files/files.js';
import type { Budget } from '../../../application/concurrency/index.js';
import type { Consistency } from '../../../application/consistency/index.js';
import { NotStored } from '../../../application/ports/index.js';
import { fileNotFound } from '../../../domain/chat/file.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type Answer, encoded, inPieces, type Reply } from '../server/answer.js';
import { overBudget } from '../server/budgets.js';
import { partOf } from '../server/byte-range.js';
import { disposition } from '../server/content-disposition.js';
import { isProblem, type Problem } from '../server/problem.js';
import type { Request } from '../server/route.js';

/** A page of its own, with nothing that it could do or load; an SVG is drawn with the styles that it has. */
const NO_PAGE = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** Sends a download, of a part where one is asked for; `budget` counts those under way. */
export async function send(
  { method, headers, logger, signal }: Pick<Request, 'method' | 'headers' | 'logger' | 'signal'>,
  kind: 'attachment' | 'inline',
  found: Download | Rejection,
  budget: Budget,
  whose: string,
): Promise<Answer> {
  if ('rejected' in found) return found;
  const { contentType, originalName, size, sha256, position, read } = found;
  const part = partOf({ method, headers }, { etag: `"${sha256}"`, size });
  if (isProblem(part)) return part;
  const told = {
    // Who may read it may change: it is asked for again each time, by its tag.
    'Cache-Control': 'private, no-cache',
    'Content-Security-Policy': NO_PAGE,
    'X-Content-Type-Options': 'nosniff',
    ...part.headers,
  };
  if (part.status === 304) return { status: 304, headers: told, position };
  const { status, from, to } = part;
  const about = {
    ...told,
    'Content-Type': contentType,
    'Content-Disposition': disposition(kind, originalName),
  };
  if (method === 'HEAD')
    return { status, position, headers: about, bytes: { length: to - from, content: () => read(0, 0) } };
  const held = budget.reserve(whose);
  const lack = held.acquire(1);
  if (lack) return overBudget(lack);
  // What can't be read at all is told before anything is sent.
  const content = await begun(read(from, to), held.release, signal).catch((error) => {
    if (!(error instanceof NotStored)) throw error;
    logger.error({ err: error, sha256 }, 'the bytes of a file are lost or damaged: it is told to be gone');
    return fileNotFound;
  });
  if ('rejected' in content) return content;
  return { status, position, headers: about, bytes: { length: to - from, content: () => content } };
}

/** As many downloads as it counts for: a file's bytes come in small pieces, this is made of pages of large events. */
const PIECES_COST = 8;

/** JSON that is made as it is read, of what stands in the log at a position. */
export interface Pieces extends Consistency {
  pieces(): AsyncIterable<string>;
}

/** Sends it; `budget` counts what is under way. */
export async function streamChunks(
  { method, signal }: Pick<Request, 'method' | 'signal'>,
  { pieces, ...reflected }: Pieces,
  budget: Budget,
  whose: string,
): Promise<Reply | Problem> {
  if (method === 'HEAD') return { ...inPieces(() => encoded(pieces())), ...reflected };
  const held = budget.reserve(whose);
  const lack = held.acquire(PIECES_COST);
  if (lack) return overBudget(lack);
  const content = await begun(encoded(pieces()), held.release, signal);
  return { ...inPieces(() => content), ...reflected };
}

/**
 * The same bytes, the first of which have come; `over` is called when no more are wanted: of who has gone, or was told
 * that it takes too long, nobody asks for any.
 */
async function begun(
  bytes: AsyncIterable<Uint8Array>,
  over: () => void,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const iterator = bytes[Symbol.asyncIterator]();
  let first: IteratorResult<Uint8Array> | undefined;
  try {
    first = await iterator.next();
  } catch (error) {
    over();
    throw error;
  }
  const next = async () => {
    const given = first ?? (await iterator.next());
    first = undefined;
    if (given.done) over();
    return given;
  };
  const end = async (): Promise<IteratorResult<Uint8Array>> => {
    over();
    first = undefined;
    await iterator.return?.();
    return { done: true, value: undefined };
  };
  // What can't be ended any more is over as well.
  const drop = () => void end().catch(() => {});
  if (signal.aborted) drop();
  else signal.addEventListener('abort', drop, { once: true });
  return { [Symbol.asyncIterator]: () => ({ next, return: end, throw: end }) };
}
