/** `annals logs tail`: shows new records as they arrive, across restarts and broken connections. */
import { addAbortSignal, Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import { Option } from 'commander';
import { wholeNumberFrom } from '../argument-parsers.js';
import { print, printError } from '../output.js';
import { type Connection, connectionOf, fetchApi, Refused, Unreachable } from './connection.js';
import { filterArguments, filterOptions, filterParameters } from './filters.js';
import { type Entry, type EntryFormat, entryFormatFor, formatEntry, readPage } from './format.js';
import { logsCommand } from './run.js';

const BACKOFF_MS = { first: 250, max: 10_000 };
const BUSY = [408, 429, 502, 503, 504];

export const tail = logsCommand(
  {
    description:
      'Shows the newest records and then every new one that matches the filters, until interrupted. Reconnects after ' +
      'a broken connection and continues where it was.',
    examples: [
      ['logs tail', 'all records'],
      ['logs tail --level ERROR,FATAL -n 0', 'errors from now on'],
      ['logs tail --json | jq .data', 'for programs'],
    ],
    arguments: filterArguments,
    options: [
      ...filterOptions,
      new Option('-n, --lines <count>', 'Start with this many of the newest records')
        .argParser(wholeNumberFrom(0))
        .default(10),
      new Option('--json', 'Print NDJSON on a terminal too'),
    ],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const format = entryFormatFor(call.options);
    const parameters = filterParameters(call);
    const lines = Number(call.options.lines);
    const initialPage = lines > 0 ? await showNewest(connection, parameters, lines, format, stop) : undefined;
    await follow(connection, parameters, initialPage, format, stop);
    return 0;
  },
);

/** Records shown before the stream: all up to `position`, and perhaps some that the stream repeats. */
interface InitialPage {
  readonly position: string | undefined;
  readonly ids: ReadonlySet<string>;
}

async function showNewest(
  connection: Connection,
  filters: URLSearchParams,
  lines: number,
  format: EntryFormat,
  signal: AbortSignal,
): Promise<InitialPage> {
  const parameters = new URLSearchParams([...filters, ['limit', String(Math.min(lines, 1000))]]);
  const response = await fetchApi(connection, `/api/logs?${parameters}`, { signal });
  const { entries } = readPage(await response.text());
  const newestLast = entries.toReversed();
  await print(newestLast.map((json) => formatEntry(format, json)).join(''), signal);
  const ids = new Set(entries.map((json) => (JSON.parse(json) as Entry).id));
  return { position: response.headers.get('position') ?? undefined, ids };
}

async function follow(
  connection: Connection,
  parameters: URLSearchParams,
  initialPage: InitialPage | undefined,
  format: EntryFormat,
  stop: AbortSignal,
): Promise<void> {
  let cursor = initialPage?.position;
  // A batch cut off by a broken connection is sent again as a whole; shown records are skipped by id.
  const printedIds = new Set<string>();
  let wait = BACKOFF_MS.first;
  let connected = initialPage !== undefined;
  while (!stop.aborted) {
    try {
      const response = await fetchApi(connection, `/api/logs/tail?${parameters}`, {
        headers: {
          Accept: 'text/event-stream',
          ...(cursor === undefined ? {} : { 'Last-Event-ID': cursor }),
        },
        signal: stop,
      });
      [connected, wait] = [true, BACKOFF_MS.first];
      for await (const { id, data } of eventsOf(response, stop)) {
        if (data) await show(data, initialPage?.ids, printedIds, format, stop);
        if (!id) continue;
        cursor = id;
        printedIds.clear();
      }
    } catch (error) {
      if (stop.aborted) return;
      // Before the first connection a wrong address is more likely than a restarting service.
      if (!connected || (error instanceof Refused && !BUSY.includes(error.status))) throw error;
      printError(`${error instanceof Unreachable ? error.message : 'the connection was lost'}, trying again`);
    }
    await delay(wait * (0.5 + Math.random()), undefined, { signal: stop }).catch(() => {});
    wait = Math.min(wait * 2, BACKOFF_MS.max);
  }
}

/** Shows a record, or reports a gap; other messages are about the stream itself. */
async function show(
  data: string,
  initialIds: ReadonlySet<string> | undefined,
  printedIds: Set<string>,
  format: EntryFormat,
  stop: AbortSignal,
): Promise<void> {
  const message = JSON.parse(data) as Partial<Entry> & { readonly type?: string };
  if (message.id !== undefined && message.timestamp !== undefined) {
    if (initialIds?.has(message.id) || printedIds.has(message.id)) return;
    printedIds.add(message.id);
    await print(formatEntry(format, data), stop);
  } else if (message.type === 'RESET') {
    printError('the connection was lost for too long; some records are missing here');
  }
}

/** Maximum characters of a line; no record is longer. */
const LINE_LIMIT = 4 * 1024 * 1024;

/**
 * Reads server-sent events (HTML standard, 9.2). `id`: cursor to resume from after this event; `data` is empty if only the
 * cursor moves. Ends with the stream; throws when it breaks, and when the signal is aborted.
 */
async function* eventsOf({ body }: Response, signal: AbortSignal) {
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
        if (data.length > 0 || id !== undefined) yield { data: data.join('\n'), id };
        [data, id] = [[], undefined];
      }
    }
  }
}

const fieldValue = (line: string) => line.slice(line.indexOf(':') + 1).replace(/^ /, '');
