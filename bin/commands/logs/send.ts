/** Sends batches of records, each until the service has it or the patience is over. */
import { sleep as pauseFor } from '../../../application/concurrency/index.js';
import { askJson, type Connection, Refused } from './connection.js';

export interface Taken {
  readonly accepted: number;
  readonly rejected: number;
  /** `line` counts from 1 within the batch. */
  readonly errors: readonly { readonly line: number; readonly error: string }[];
}

export interface SendOptions {
  /** The same for every attempt: a batch that has arrived already is not taken twice. */
  readonly key: string;
  readonly patienceMs: number;
  /** No further attempts. */
  readonly stop: AbortSignal;
  readonly retrying: (error: Error) => void;
  /** Waits between attempts. */
  readonly pause?: typeof pauseFor;
}

const ANSWER_MS = 60_000;
const BACKOFF_MS = { first: 200, most: 15_000 };
/** Others would be answered the same way again. */
const WORTH_A_RETRY = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Rejects with why it was given up: refused, or no answer for so long. */
export async function send(connection: Connection, body: Buffer, options: SendOptions): Promise<Taken> {
  const { key, patienceMs, stop, retrying, pause = pauseFor } = options;
  const deadline = performance.now() + patienceMs;
  for (let backoff = BACKOFF_MS.first; ; backoff = Math.min(backoff * 2, BACKOFF_MS.most)) {
    try {
      return await askJson<Taken>(connection, '/api/ingest', {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-ndjson', 'Idempotency-Key': key },
        body: new Uint8Array(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const asked = error instanceof Refused ? (error.retryAfterMs ?? 0) : 0;
      const wait = Math.max(asked, backoff * (0.5 + Math.random()));
      const hopeless = error instanceof Refused && !WORTH_A_RETRY.has(error.status);
      if (hopeless || stop.aborted || performance.now() + wait > deadline) throw error;
      retrying(error);
      await pause(wait, stop);
    }
  }
}
