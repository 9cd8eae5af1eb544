/** Sends a batch of records, with retries until a timeout. */
import { sleep } from '../../../application/concurrency/index.js';
import { type Connection, fetchJson, Refused } from './connection.js';

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
  /** Prevents further attempts. */
  readonly stop: AbortSignal;
  readonly onRetry: (error: Error) => void;
  /** Waits between attempts. For tests. */
  readonly pause?: typeof sleep;
}

const RESPONSE_MS = 60_000;
const BACKOFF_MS = { first: 200, max: 15_000 };
/** Other statuses would not change on a retry. */
const RETRYABLE = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Rejects with the last error after the timeout, or immediately if a retry can not help. */
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
