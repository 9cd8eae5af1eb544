/** Follows the live stream of a site; reconnects with backoff. */
import { createParser } from 'eventsource-parser';
import { ApiError } from '../../shared/api/http.js';
import { api } from '../api.js';
import type { Hit } from '../contract.js';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** Silence after which a connection counts as dead; the service sends a heartbeat every 15 s. */
const MAX_SILENCE_MS = 40_000;

export interface HitListener {
  /** Hits of one event. Each hit is delivered once, also after a reconnect. */
  hits(hits: readonly Hit[]): void;
  /** `ahead`: milliseconds the service's clock is ahead of the browser's. */
  connected(ahead: number): void;
  /** The connection was lost; it is retried. */
  disconnected(): void;
  /** The site was deleted or the session has ended; no retry. */
  ended(reason: 'site' | 'session'): void;
}

type LiveMessage = Hit | { readonly type: 'RESET' | 'SITE_DELETED' | 'SIGNED_OUT' };

/** Follows the stream until `signal` is aborted or the stream ends. */
export async function followHits(site: string, listener: HitListener, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  let waitMs = FIRST_WAIT_MS;
  let endReason: 'site' | 'session' | undefined;

  async function read(connection: Connection) {
    const response = await api.live(site, cursor, connection.signal);
    listener.connected(Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0);
    let batch: Hit[] = [];
    const parser = createParser({
      onEvent({ id, data }) {
        const message: LiveMessage = JSON.parse(data);
        if (message.type === 'HIT') batch.push(message);
        if (message.type === 'SITE_DELETED') endReason = 'site';
        if (message.type === 'SIGNED_OUT') endReason = 'session';
        if (id === undefined) return;
        cursor = id;
        listener.hits(batch);
        batch = [];
      },
    });
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      connection.resetTimeout();
      waitMs = FIRST_WAIT_MS;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  while (!signal.aborted) {
    const connection = openConnection(signal);
    const error: unknown = await read(connection).catch((failed: unknown) => failed);
    connection.end();
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status === 401) return;
    if (error instanceof ApiError && error.status === 404) endReason = 'site';
    if (endReason) return listener.ended(endReason);
    listener.disconnected();
    // Random delay, so that clients do not reconnect simultaneously.
    await sleep(waitMs * (0.5 + Math.random()), signal);
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
  }
}

interface Connection {
  /** Aborted by the caller, or after too long a silence. */
  readonly signal: AbortSignal;
  /** Restarts the silence timeout. */
  resetTimeout(): void;
  end(): void;
}

function openConnection(signal: AbortSignal): Connection {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let silenceTimer = setTimeout(abort, MAX_SILENCE_MS);
  signal.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    resetTimeout() {
      clearTimeout(silenceTimer);
      silenceTimer = setTimeout(abort, MAX_SILENCE_MS);
    },
    end() {
      clearTimeout(silenceTimer);
      signal.removeEventListener('abort', abort);
    },
  };
}

const sleep = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
