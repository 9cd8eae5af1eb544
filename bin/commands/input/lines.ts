/** Lines of a stream of bytes, in batches that are worth a request. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** With its end, if it has one; absent when the line is too long. */
  readonly bytes?: Buffer;
}

export interface BatchOptions {
  /** Longer lines are left out: what has no line end must not fill the memory. */
  readonly lineBytes: number;
  readonly batchLines: number;
  readonly batchBytes: number;
  /** What is there after so much time is a batch, full or not; without it, batches depend on the bytes alone. */
  readonly lingerMs?: number;
}

const NEWLINE = 0x0a;

/** Empty lines are left out; the last line needs no end. A source that is faster than its reader waits. */
export async function* batchesOf(source: AsyncIterable<Buffer>, options: BatchOptions): AsyncGenerator<Line[]> {
  const { batchLines, batchBytes, lingerMs } = options;
  const arriving = linesOf(source, options.lineBytes);
  let batch: Line[] = [];
  let bytes = 0;
  let due = 0;
  let next = upcoming(arriving);
  for (;;) {
    const arrived = batch.length > 0 && lingerMs !== undefined ? await before(due, next) : await next;
    if (arrived === 'late') {
      yield batch;
      [batch, bytes] = [[], 0];
      continue;
    }
    if (arrived.done) break;
    for (const line of arrived.value) {
      const size = line.bytes?.length ?? 0;
      if (batch.length >= batchLines || (batch.length > 0 && bytes + size > batchBytes)) {
        yield batch;
        [batch, bytes] = [[], 0];
      }
      if (batch.length === 0) due = performance.now() + (lingerMs ?? 0);
      batch.push(line);
      bytes += size;
    }
    next = upcoming(arriving);
  }
  if (batch.length > 0) yield batch;
}

/** Asked for ahead: that it fails is told to whoever waits for it, and to nobody before. */
function upcoming(lines: AsyncGenerator<Line[]>): Promise<IteratorResult<Line[]>> {
  const next = lines.next();
  next.catch(() => {});
  return next;
}

async function before<T>(due: number, work: Promise<T>): Promise<T | 'late'> {
  const done = new AbortController();
  const late = delay(Math.max(0, due - performance.now()), 'late' as const, { signal: done.signal });
  late.catch(() => {});
  return Promise.race([work, late]).finally(() => done.abort());
}

/** The lines that each chunk completes. */
async function* linesOf(source: AsyncIterable<Buffer>, lineBytes: number): AsyncGenerator<Line[]> {
  let number = 0;
  let parts: Buffer[] = [];
  let size = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size <= lineBytes) parts.push(part);
    else parts = [];
  };
  const complete = (): Line[] => {
    number++;
    const bytes = size <= lineBytes ? Buffer.concat(parts) : undefined;
    [parts, size] = [[], 0];
    if (!bytes) return [{ number }];
    return bytes.every((byte) => byte <= 0x20) ? [] : [{ number, bytes }];
  };
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      add(chunk.subarray(start, end + 1));
      lines.push(...complete());
      start = end + 1;
    }
    add(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield complete();
}
