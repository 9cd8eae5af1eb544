/** Splits a byte stream into lines and batches them. */
import { setTimeout as delay } from 'node:timers/promises';

export interface Line {
  readonly number: number;
  /** Including the line end, if any; absent when the line is too long. */
  readonly bytes?: Buffer;
}

export interface BatchOptions {
  /** Longer lines are dropped, so that input without line ends cannot fill the memory. */
  readonly lineBytes: number;
  readonly batchLines: number;
  readonly batchBytes: number;
  /** Age in ms at which a batch is emitted even if not full. Without it, batches depend on the bytes alone. */
  readonly lingerMs?: number;
}

const NEWLINE = 0x0a;

/** Skips empty lines; the last line needs no line end. Applies backpressure to the source. */
export async function* batchesOf(source: AsyncIterable<Buffer>, options: BatchOptions): AsyncGenerator<Line[]> {
  const { batchLines, batchBytes, lingerMs } = options;
  const lineGroups = linesOf(source, options.lineBytes);
  let batch: Line[] = [];
  let bytes = 0;
  let due = 0;
  let next = readAhead(lineGroups);
  for (;;) {
    const result = batch.length > 0 && lingerMs !== undefined ? await raceDeadline(due, next) : await next;
    if (result === 'timeout') {
      yield batch;
      [batch, bytes] = [[], 0];
      continue;
    }
    if (result.done) break;
    for (const line of result.value) {
      const size = line.bytes?.length ?? 0;
      if (batch.length >= batchLines || (batch.length > 0 && bytes + size > batchBytes)) {
        yield batch;
        [batch, bytes] = [[], 0];
      }
      if (batch.length === 0) due = performance.now() + (lingerMs ?? 0);
      batch.push(line);
      bytes += size;
    }
    next = readAhead(lineGroups);
  }
  if (batch.length > 0) yield batch;
}

/** Reads ahead. A failure surfaces when the result is awaited, not as an unhandled rejection before. */
function readAhead(lines: AsyncGenerator<Line[]>): Promise<IteratorResult<Line[]>> {
  const next = lines.next();
  next.catch(() => {});
  return next;
}

async function raceDeadline<T>(due: number, work: Promise<T>): Promise<T | 'timeout'> {
  const done = new AbortController();
  const timeout = delay(Math.max(0, due - performance.now()), 'timeout' as const, { signal: done.signal });
  timeout.catch(() => {});
  return Promise.race([work, timeout]).finally(() => done.abort());
}

/** Yields the lines that each chunk completes. */
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
