/** `annals logs import`: sends records from files and pipes in batches, with retries. */
import { createHash, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { createBoundedParallel, sleep } from '../../../application/concurrency/index.js';
import { wholeNumber } from '../argument-parsers.js';
import { SOME_REJECTED } from '../command.js';
import { batchesOf, type Line } from '../input/lines.js';
import { showProgress } from '../input/progress.js';
import { inputPaths, openSource, type Source, Unreadable } from '../input/source.js';
import { printError } from '../output.js';
import { type Connection, connectionOf, fetchJson, Refused } from './connection.js';
import { FAILED, logsCommand } from './run.js';

const BATCH = { lineBytes: 1024 * 1024, batchLines: 1000, batchBytes: 1024 * 1024 };
const LINGER_MS = 250;
/** Batches sent in parallel. Live input is sent one by one, to keep its order. */
const CONCURRENCY = { files: 4, live: 1 };

interface Tally {
  accepted: number;
  rejected: number;
  /** Lines of batches that could not be sent. */
  unsent: number;
}

export const importLogs = logsCommand(
  {
    description:
      'Sends records, one JSON object per line, from files (also .gz) or from standard input (-, or no path in a ' +
      'pipe). A batch without an answer is sent again with the same idempotency key, so that nothing is stored twice. ' +
      'Rejected lines, and batches that could not be sent in time, are reported and skipped.',
    examples: [
      ['logs import app.ndjson app.1.ndjson.gz', 'files'],
      ['logs import --token producer-token -', 'from standard input'],
    ],
    arguments: [new Argument('[path...]', 'Files, or - for standard input')],
    options: [new Option('--patience <seconds>', 'How long to retry a batch').argParser(wholeNumber).default(300)],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const timeoutMs = Number(call.options.patience) * 1000;
    const tally: Tally = { accepted: 0, rejected: 0, unsent: 0 };
    let unreadable = 0;
    for (const path of inputPaths(call.args)) {
      if (stop.aborted) break;
      try {
        await importSource(connection, await openSource(path), { tally, timeoutMs, stop });
      } catch (error) {
        if (isFatal(error)) throw error;
        unreadable++;
        printError(
          `${path} ${error instanceof Unreadable ? error.message : `could not be imported: ${messageOf(error)}`}`,
        );
      }
    }
    printError(summary(tally));
    return tally.unsent > 0 || unreadable > 0 ? FAILED : tally.rejected > 0 ? SOME_REJECTED : 0;
  },
);

interface Import {
  readonly tally: Tally;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
}

async function importSource(connection: Connection, source: Source, { tally, timeoutMs, stop }: Import) {
  const { live, name } = source;
  const progress = showProgress(source, tally, 'records');
  const jobs = createBoundedParallel(live ? CONCURRENCY.live : CONCURRENCY.files);

  async function deliver(lines: readonly Line[]) {
    const sendable = lines.filter((line) => line.bytes !== undefined);
    for (const { number, bytes } of lines) if (!bytes) reject(number, 'the line is too long');
    if (sendable.length === 0) return;
    const body = Buffer.concat(sendable.map(({ bytes }) => withNewline(bytes!)));
    try {
      const key = live ? randomUUID() : keyOf(name, lines[0]!.number, body);
      const result = await send(connection, body, { key, timeoutMs, stop, onRetry: progress.onRetry });
      tally.accepted += result.accepted;
      tally.rejected += result.rejected - result.errors.length;
      for (const { line, error } of result.errors) reject(sendable[line - 1]?.number, error);
    } catch (error) {
      tally.unsent += sendable.length;
      if (isFatal(error)) throw error;
      progress.print(`${sendable.length} lines of ${name} could not be sent: ${messageOf(error)}`);
    }
  }

  function reject(line: number | undefined, error: string) {
    tally.rejected++;
    progress.onRejected(`${name}:${line ?? '?'}: ${error}`);
  }

  try {
    const options = live ? { ...BATCH, lingerMs: LINGER_MS } : BATCH;
    for await (const lines of batchesOf(source.chunks(stop), options)) {
      await jobs.start(() => deliver(lines));
      progress.update();
    }
  } finally {
    await jobs.finish().finally(progress.end);
  }
}

/** Errors that every other batch would get too: of credentials or address, not of content. */
const isFatal = (error: unknown) => error instanceof Refused && [401, 403, 404, 405].includes(error.status);

/** The same for the same lines of a file, so that a repeated import stores nothing twice. */
const keyOf = (path: string, line: number, body: Buffer) =>
  createHash('sha256')
    .update(`${resolve(path)}\n${line}\n`)
    .update(body)
    .digest('base64url');

const withNewline = (line: Buffer) => (line.at(-1) === 0x0a ? line : Buffer.concat([line, Buffer.from('\n')]));

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function summary({ accepted, rejected, unsent }: Tally): string {
  const parts = [`${accepted.toLocaleString('en')} ${accepted === 1 ? 'record' : 'records'} imported`];
  if (rejected > 0) parts.push(`${rejected.toLocaleString('en')} rejected`);
  if (unsent > 0) parts.push(`${unsent.toLocaleString('en')} not sent`);
  return parts.join(', ');
}

export interface IngestResult {
  readonly accepted: number;
  readonly rejected: number;
  /** `line` counts from 1 within the batch. */
  readonly errors: readonly { readonly line: number; readonly error: string }[];
}

export interface SendOptions {
  /** Idempotency key, the same for every attempt: a batch is stored once. */
  readonly key: string;
  readonly timeoutMs: number;
  readonly stop: AbortSignal;
  readonly onRetry: (error: Error) => void;
  /** Waits between attempts. For tests. */
  readonly pause?: typeof sleep;
}

const RESPONSE_MS = 60_000;
const BACKOFF_MS = { first: 200, max: 15_000 };
/** Other statuses would not change on a retry. */
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Rejects with the last error after the timeout, or immediately if a retry cannot help. */
export async function send(connection: Connection, body: Buffer, options: SendOptions): Promise<IngestResult> {
  const { key, timeoutMs, stop, onRetry, pause = sleep } = options;
  const deadline = performance.now() + timeoutMs;
  for (let backoff = BACKOFF_MS.first; ; backoff = Math.min(backoff * 2, BACKOFF_MS.max)) {
    try {
      return await fetchJson<IngestResult>(connection, '/api/ingest', {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': key },
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(RESPONSE_MS),
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const retryAfterMs = error instanceof Refused ? (error.retryAfterMs ?? 0) : 0;
      const wait = Math.max(retryAfterMs, backoff * (0.5 + Math.random()));
      const isFinal = error instanceof Refused && !RETRYABLE.has(error.status);
      if (isFinal || stop.aborted || performance.now() + wait > deadline) throw error;
      onRetry(error);
      await pause(wait, stop);
    }
  }
}
