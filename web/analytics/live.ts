/** The hits of a site as they come, followed again by itself when the stream is lost. */
import { createParser } from 'eventsource-parser';
import { type Api, ApiError } from './api.js';
import type { Hit } from './contract.js';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 30_000;
/** The service says something every 15 s: a line that is silent for longer is cut somewhere, and nobody has told. */
const SILENT_MS = 40_000;

export interface HitListener {
  /** Those that were taken in together, all at once: what was heard is not heard again. */
  hits(hits: readonly Hit[]): void;
  /** `ahead`: of the service's clock before ours, ms. */
  connected(ahead: number): void;
  /** It will be opened again. */
  disconnected(): void;
  /** There is nothing to follow any more: the site, or the session, has gone. */
  ended(why: 'site' | 'session'): void;
}

type LiveMessage = Hit | { readonly type: 'RESET' | 'SITE_DELETED' | 'SIGNED_OUT' };

/** Ends with `signal`. */
export async function followHits(api: Api, site: string, hearing: HitListener, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  let waitMs = FIRST_WAIT_MS;
  let why: 'site' | 'session' | undefined;

  async function read(line: Line) {
    const response = await api.live(site, cursor, line.signal);
    hearing.connected(Date.parse(response.headers.get('Date') ?? '') - Date.now() || 0);
    let heard: Hit[] = [];
    const parser = createParser({
      onEvent({ id, data }) {
        const told: LiveMessage = JSON.parse(data);
        if (told.type === 'HIT') heard.push(told);
        if (told.type === 'SITE_DELETED') why = 'site';
        if (told.type === 'SIGNED_OUT') why = 'session';
        if (id === undefined) return;
        cursor = id;
        hearing.hits(heard);
        heard = [];
      },
    });
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      line.heard();
      waitMs = FIRST_WAIT_MS;
      parser.feed(decoder.decode(value, { stream: true }));
    }
  }

  while (!signal.aborted) {
    const line = lineOf(signal);
    const error: unknown = await read(line).catch((failed: unknown) => failed);
    line.end();
    if (signal.aborted) return;
    if (error instanceof ApiError && error.status === 401) return;
    if (error instanceof ApiError && error.status === 404) why = 'site';
    if (why) return hearing.ended(why);
    hearing.disconnected();
    // Not all at once, when all have lost it at once.
    await passed(waitMs * (0.5 + Math.random()), signal);
    waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS);
  }
}

interface Line {
  /** Aborted with what it is of, and when nothing was heard for long. */
  readonly signal: AbortSignal;
  heard(): void;
  end(): void;
}

function lineOf(signal: AbortSignal): Line {
  const line = new AbortController();
  const cut = () => line.abort();
  let silence = setTimeout(cut, SILENT_MS);
  signal.addEventListener('abort', cut, { once: true });
  return {
    signal: line.signal,
    heard() {
      clearTimeout(silence);
      silence = setTimeout(cut, SILENT_MS);
    },
    end() {
      clearTimeout(silence);
      signal.removeEventListener('abort', cut);
    },
  };
}

const passed = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
