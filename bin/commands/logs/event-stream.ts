/** Reads server-sent events (HTML standard, 9.2). */
import { addAbortSignal, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

export interface StreamEvent {
  /** Empty for a block that only moves the cursor. */
  readonly data: string;
  /** Cursor to resume from after this event. */
  readonly id?: string;
}

/** Maximum characters of a line; no record is longer. */
const LINE_LIMIT = 4 * 1024 * 1024;

/** Ends with the stream; throws when it breaks, and when the signal is aborted. */
export async function* eventsOf({ body }: Response, signal: AbortSignal): AsyncGenerator<StreamEvent> {
  if (!body) return;
  // The signal of fetch is not enough: before Node 24 it is lost on garbage collection.
  const chunks = addAbortSignal(signal, Readable.fromWeb(body as ReadableStream));
  const decoder = new TextDecoder();
  let rest = '';
  let data: string[] = [];
  let id: string | undefined;
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split(/\r\n|\n/);
    rest = lines.pop() ?? '';
    if (rest.length > LINE_LIMIT) throw new Error('a line of the event stream is too long');
    for (const line of lines) {
      if (line.startsWith('data:')) data.push(fieldValue(line));
      else if (line.startsWith('id:')) id = fieldValue(line);
      else if (line === '') {
        if (data.length > 0 || id !== undefined) yield { data: data.join('\n'), ...(id === undefined ? {} : { id }) };
        [data, id] = [[], undefined];
      }
    }
  }
}

const fieldValue = (line: string) => line.slice(line.indexOf(':') + 1).replace(/^ /, '');
