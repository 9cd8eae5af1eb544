/** A minimal client of the log service. */
import type { Entry, Page } from '../../application/logs/query/render-page.js';

export interface Answered<Body> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

export interface LogClient {
  ask<Body = { readonly error: string }>(
    method: string,
    path: string,
    more?: { readonly body?: string | Uint8Array; readonly headers?: { readonly [name: string]: string } },
  ): Promise<Answered<Body>>;
  ingest(
    records: readonly object[],
    headers?: { readonly [name: string]: string },
  ): Promise<Answered<{ readonly accepted: number; readonly producerId: string; readonly error?: string }>>;
  page(query: string): Promise<Page>;
  /** All entries, read page by page. */
  all(query: string, limit?: number): Promise<readonly Entry[]>;
}

export function logClient(base: string): LogClient {
  const ask: LogClient['ask'] = async <Body>(
    method: string,
    path: string,
    { body, headers = {} }: Parameters<LogClient['ask']>[2] = {},
  ) => {
    const answer = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: (text ? JSON.parse(text) : {}) as Body, headers: answer.headers };
  };

  const page = async (query: string) => (await ask<Page>('GET', `/api/logs?${query}`)).body;

  return {
    ask,
    page,
    ingest: (records, headers = {}) =>
      ask('POST', '/api/ingest', {
        body: records.map((record) => JSON.stringify(record)).join('\n'),
        headers: { 'content-type': 'application/x-ndjson', ...headers },
      }),
    async all(query, limit = 1000) {
      const found: Entry[] = [];
      let cursor = '';
      for (;;) {
        const { entries, nextCursor } = await page(`${query}&limit=${limit}${cursor}`);
        found.push(...entries);
        if (!nextCursor) return found;
        cursor = `&cursor=${nextCursor}`;
      }
    },
  };
}

/** Reads records of a live tail until there are enough; `id` is the cursor after each. */
export async function tailed(
  url: string,
  enough: (entries: readonly Entry[], cursor: string | undefined) => boolean,
  options: { readonly lastEventId?: string; readonly connected?: () => void } = {},
): Promise<{
  readonly entries: readonly Entry[];
  readonly cursor: string | undefined;
  readonly reset: boolean;
}> {
  const stop = new AbortController();
  const { lastEventId } = options;
  const headers = new Headers(lastEventId === undefined ? {} : { 'last-event-id': lastEventId });
  const answer = await fetch(url, { headers, signal: stop.signal });
  if (!answer.ok || !answer.body) throw new Error(`the tail was refused: ${answer.status}`);
  options.connected?.();
  const entries: Entry[] = [];
  let [rest, cursor, reset]: [string, string | undefined, boolean] = ['', undefined, false];
  const decoder = new TextDecoder();
  for await (const chunk of answer.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('id: ')) cursor = line.slice(4);
      if (!line.startsWith('data: ')) continue;
      const message = JSON.parse(line.slice(6));
      if (message.type === 'RESET') reset = true;
      else entries.push(message);
    }
    if (enough(entries, cursor)) break;
  }
  stop.abort();
  return { entries, cursor, reset };
}
