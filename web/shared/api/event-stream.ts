/** A resuming event stream over `fetch`, so that credentials stay in a header: cursor, heartbeat watch, growing pauses. */

export interface EventStreamOptions {
  readonly url: () => string;
  readonly headers: () => { readonly [name: string]: string };
  /** Each message, with the cursor after it. */
  readonly onMessage: (message: { readonly type: string; readonly [member: string]: unknown }) => void;
  /** True when messages arrive, false when the connection is lost. */
  readonly onState: (isConnected: boolean) => void;
  /** Called for a response with status 401; resolves with true to connect again. */
  readonly onUnauthorized: () => Promise<boolean>;
  /** Called for a response with status 404, after which it does not connect again; without it, it does. */
  readonly onNotFound?: () => void;
  /** Start after this cursor. */
  readonly after?: string;
  /** Reads the text of a message; `JSON.parse` without it. */
  readonly parse?: (text: string) => unknown;
  /** See `HttpOptions` in `http.ts`. */
  readonly credentials?: RequestCredentials;
}

/** Services send a comment every 25 s. */
const SILENCE_MS = 60_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [500, 15_000];

export interface EventStream {
  /** Cursor of the last message, to start another stream after it. */
  cursor(): string | undefined;
  close(): void;
}

/** Connects until it is closed, and after each loss again from the last cursor. */
export function openEventStream(options: EventStreamOptions): EventStream {
  const { credentials = 'same-origin', parse = JSON.parse } = options;
  let cursor = options.after;
  /** From `Retry-After` of a refusal. */
  let leastPauseMs = 0;
  let isClosed = false;
  let current = new AbortController();
  let wake = () => {};

  async function connect(): Promise<'again' | 'end'> {
    current = new AbortController();
    let watch = setTimeout(() => current.abort(), SILENCE_MS);
    try {
      const headers = { ...options.headers(), ...(cursor !== undefined && { 'Last-Event-ID': cursor }) };
      const response = await fetch(options.url(), { headers, signal: current.signal, cache: 'no-store', credentials });
      if (response.status === 401) return (await options.onUnauthorized()) ? 'again' : 'end';
      if (response.status === 404 && options.onNotFound) {
        options.onNotFound();
        return 'end';
      }
      if (!response.ok) leastPauseMs = 1000 * (Number(response.headers.get('Retry-After')) || 0);
      if (!response.ok || !response.body) return 'again';
      options.onState(true);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let pending = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return 'again';
        clearTimeout(watch);
        watch = setTimeout(() => current.abort(), SILENCE_MS);
        const blocks = (pending + value).split('\n\n');
        pending = blocks.pop() ?? '';
        for (const block of blocks) deliver(block);
      }
    } catch {
      return 'again';
    } finally {
      clearTimeout(watch);
    }
  }

  function deliver(block: string) {
    let data = '';
    let id: string | undefined;
    for (const line of block.split('\n')) {
      if (line.startsWith('data:')) data += line.slice(5).trimStart();
      if (line.startsWith('id:')) id = line.slice(3).trim();
    }
    // First, so that a message that cannot be read is not asked for again and again.
    cursor = id ?? cursor;
    if (data === '' || isClosed) return;
    try {
      options.onMessage(parse(data) as Parameters<typeof options.onMessage>[0]);
    } catch (error) {
      console.error(error);
    }
  }

  async function run() {
    let pause = FIRST_PAUSE_MS;
    while (!isClosed) {
      const started = Date.now();
      leastPauseMs = 0;
      if ((await connect()) === 'end' || isClosed) break;
      options.onState(false);
      if (Date.now() - started > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS;
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, Math.max(leastPauseMs, pause * (0.5 + Math.random())));
      });
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
  }

  const onOnline = () => wake();
  // An open connection would seem to be there until the heartbeat is missed.
  const onOffline = () => current.abort();
  addEventListener('online', onOnline);
  addEventListener('offline', onOffline);
  void run();
  return {
    cursor: () => cursor,
    close() {
      isClosed = true;
      removeEventListener('online', onOnline);
      removeEventListener('offline', onOffline);
      current.abort();
      wake();
    },
  };
}
