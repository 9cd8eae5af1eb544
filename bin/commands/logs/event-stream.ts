/** Reads server-sent events (HTML standard, 9.2): data, and where to go on from after it. */
import { addAbortSignal, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

export interface StreamEvent {
  /** Empty for a block that only moves the cursor. */
  readonly data: string;
  /** What to resume from, once this event has been seen. */
  readonly id?: string;
}

/** More than this in one line is no record of ours. */
const LINE_LIMIT = 4 * 1024 * 1024;

/** Ends with the stream; throws when it breaks, and when the signal is aborted. */
export async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  if (!body) return;
  // What was given to fetch is not enough: before Node 24 it forgets its signal when memory is collected.
  const chunks = addAbortSignal(signal, Readable.fromWeb(body as ReadableStream));
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let id: string | undefined;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LIMIT) throw new Error('a line of the stream has no end');
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(value(line));
      else if (line.startsWith('id:')) id = value(line);
      else if (line === '') {
        if (data.length > 0 || id !== undefined) yield { data: data.join('\n'), ...(id === undefined ? {} : { id }) };
        [data, id] = [[], undefined];
      }
    }
  }
}

const value = (line: string) => line.slice(line.indexOf(':') + 1).replace(/^ /, '');
